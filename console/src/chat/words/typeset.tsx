/** Formulas, typeset by KaTeX into elements: no HTML is parsed, and styles are set by script, which the content security policy allows. */

import "katex/dist/katex.css";

import katex from "katex";
import { useLayoutEffect, useRef } from "react";

export function Typeset({ source, display }: { source: string; display: boolean }) {
  const shown = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (!shown.current) return;
    try {
      katex.render(source, shown.current, { displayMode: display, throwOnError: true, strict: "ignore", trust: false, maxSize: 20, maxExpand: 500 });
    } catch {
      shown.current.textContent = source;
    }
  }, [source, display]);
  return <span ref={shown} className={display ? "formula display" : "formula"} dir="ltr" />;
}
