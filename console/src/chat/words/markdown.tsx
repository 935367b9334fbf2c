/** Messages as Markdown. Nothing in them is ever taken as HTML, no picture is fetched, and only web and mail links lead anywhere. */

import { memo, useMemo, useRef, type ComponentProps, type MouseEvent, type ReactNode } from "react";
import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";

import { useHouseState } from "../../house";
import { CopyButton } from "../../parts/copy-button";
import { Code, languageOf } from "./code";
import { FormulaWords } from "./formula";
import { takeFormulas } from "./formulas";
import { directions, FORMULA, ownFootnotes, placedFormulas } from "./plugins";
import { inPieces, withTitle } from "./recalled-text";

const COMPONENTS = {
  a: Link,
  img: ({ src, alt }: ComponentProps<"img">) =>
    typeof src === "string" && src ? <a href={src} target="_blank" rel="noreferrer noopener">{alt || "picture"}</a> : <span>{alt}</span>,
  code: Code,
  pre: ({ children }: ComponentProps<"pre">) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children, dir }: ComponentProps<"table">) => <div className="table-scroll" tabIndex={0} role="region" aria-label="Table"><table dir={dir}>{children}</table></div>,
  input: (props: ComponentProps<"input">) => <input {...props} aria-label={props.checked ? "Done" : "Not done"} />,
  [FORMULA]: FormulaWords,
} as Components;

interface Props {
  text: string;
  /** Of one message: footnotes of two messages must not share their marks. */
  scope: string;
  /** Words of a person, whose text only looks like a quotation of what is remembered. */
  isUser?: boolean;
}

export const Words = memo(function Words({ text, scope, isUser = false }: Props) {
  const pieces = isUser ? [{ kind: "markdown" as const, text }] : inPieces(text);
  return (
    <div className="words">
      {pieces.map((piece, number) => {
        if (piece.kind === "label") return <p key={number} className="label-note" dir="auto">{piece.text}</p>;
        if (piece.kind === "markdown") return <Parsed key={number} text={piece.text} scope={`${scope}-${number}-`} />;
        return (
          <blockquote key={number} className="quoted">
            <ul>{piece.lines.map((line, index) => <li key={index} dir="auto"><Quoted line={line} /></li>)}</ul>
          </blockquote>
        );
      })}
    </div>
  );
});

function Parsed({ text, scope }: { text: string; scope: string }) {
  const { text: plain, formulas } = useMemo(() => takeFormulas(text), [text]);
  const rehype = useMemo(() => [directions, ownFootnotes(scope), placedFormulas(formulas)], [formulas, scope]);
  return (
    <Markdown components={COMPONENTS} remarkPlugins={[remarkGfm]} rehypePlugins={rehype} remarkRehypeOptions={{ clobberPrefix: scope }}>
      {plain}
    </Markdown>
  );
}

function Quoted({ line }: { line: string }) {
  const { sessions } = useHouseState();
  return withTitle(line, (id) => sessions.get(id)?.title ?? undefined);
}

/** A footnote stays in its message; all else opens in another tab. */
function Link({ href, children, id, className, "aria-label": label, "aria-describedby": described }: ComponentProps<"a">) {
  if (!href) return <span>{children}</span>;
  if (!href.startsWith("#")) return <a href={href} target="_blank" rel="noreferrer noopener">{children}</a>;
  const jump = (event: MouseEvent) => {
    event.preventDefault();
    const target = document.getElementById(decodeURIComponent(href.slice(1)));
    target?.scrollIntoView({ block: "center" });
    target?.setAttribute("tabindex", "-1");
    target?.focus({ preventScroll: true });
  };
  return <a href={href} id={id} className={className} aria-label={label} aria-describedby={described} onClick={jump}>{children}</a>;
}

function CodeBlock({ children }: { children: ReactNode }) {
  const shown = useRef<HTMLPreElement>(null);
  const language = languageOf(children);
  return (
    <div className="code-block" dir="ltr">
      <header>
        <span className="language">{language ?? ""}</span>
        <CopyButton text={() => shown.current?.textContent ?? ""} label="Copy code" />
      </header>
      <pre ref={shown} tabIndex={0} aria-label={language ? `Code in ${language}` : "Code"} role="region">{children}</pre>
    </div>
  );
}
