import { lazy, Suspense } from "react";

const Typeset = lazy(async () => ({ default: (await import("./typeset")).Typeset }));

/** A formula: as it was written until it is typeset, which is loaded with the first one. */
export function FormulaWords({ source, mode }: { source: string; mode: "display" | "inline" }) {
  return <Suspense fallback={<code>{source}</code>}><Typeset source={source} display={mode === "display"} /></Suspense>;
}
