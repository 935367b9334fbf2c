/** Replies as Markdown. Nothing in them is ever taken as HTML, no picture is fetched, and only web and mail links lead anywhere. */

import { memo, useRef, type ComponentProps } from "react";
import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";

import { useHouseState } from "../house";
import { CopyButton } from "../parts/copy-button";
import { Code } from "./code";
import { inPieces, withTitle } from "./recalled-text";

const COMPONENTS: Components = {
  a: ({ href, children }) => (href ? <a href={href} target="_blank" rel="noreferrer noopener">{children}</a> : <span>{children}</span>),
  img: ({ src, alt }) =>
    typeof src === "string" && src ? <a href={src} target="_blank" rel="noreferrer noopener">{alt || "picture"}</a> : <span>{alt}</span>,
  code: Code,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => <div className="table-scroll" tabIndex={0} role="region" aria-label="Table"><table>{children}</table></div>,
  input: (props: ComponentProps<"input">) => <input {...props} aria-label={props.checked ? "Done" : "Not done"} />,
};

export const Words = memo(function Words({ text }: { text: string }) {
  return (
    <div className="words">
      {inPieces(text).map((piece, place) => {
        if (piece.kind === "label") return <p key={place} className="label-note">{piece.text}</p>;
        if (piece.kind === "recalled") {
          return (
            <blockquote key={place} className="quoted">
              <ul>{piece.lines.map((line, number) => <li key={number}><Quoted line={line} /></li>)}</ul>
            </blockquote>
          );
        }
        return (
          <Markdown key={place} components={COMPONENTS} remarkPlugins={[remarkGfm]}>
            {piece.text}
          </Markdown>
        );
      })}
    </div>
  );
});

function Quoted({ line }: { line: string }) {
  const { sessions } = useHouseState();
  return withTitle(line, (id) => sessions.get(id)?.title ?? undefined);
}

function CodeBlock({ children }: { children: React.ReactNode }) {
  const shown = useRef<HTMLPreElement>(null);
  return (
    <div className="code-block">
      <pre ref={shown} tabIndex={0}>{children}</pre>
      <CopyButton text={() => shown.current?.textContent ?? ""} label="Copy code" />
    </div>
  );
}
