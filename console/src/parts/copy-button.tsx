import { useEffect, useState } from "react";

import { Icon } from "./icon";

/** Says that it was done, in the same place, for a moment. */
export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const [done, setDone] = useState<"copied" | "failed" | null>(null);
  useEffect(() => {
    if (done === null) return;
    const timer = setTimeout(() => setDone(null), 1_600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setDone("copied");
    } catch {
      setDone("failed");
    }
  };
  const said = done === "copied" ? "Copied" : done === "failed" ? "Could not copy" : label;
  return (
    <button type="button" className="quiet" onClick={() => void copy()} aria-label={said} title={said}>
      <Icon name={done === "copied" ? "check" : "copy"} />
      <span className="said" aria-live="polite">{done === null ? "" : said}</span>
    </button>
  );
}
