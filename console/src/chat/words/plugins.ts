/** Changes of the parsed words before they are shown: formulas in their place, and each block in the direction of its script. */

import type { Element, ElementContent, Root, RootContent, Text } from "hast";

import { MARK, type Formula } from "./formulas";

const BLOCKS = new Set(["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote", "table"]);
/** The element that stands for a formula, until it is shown. */
export const FORMULA = "x-formula";

/** The outermost block decides: `dir="auto"` looks at the first letters, but not at those inside another element that has a `dir`. */
export function directions() {
  return (tree: Root): void => {
    for (const child of tree.children) mark(child);
  };
}

function mark(node: RootContent): void {
  if (node.type !== "element") return;
  if (BLOCKS.has(node.tagName)) node.properties["dir"] = "auto";
  else for (const child of node.children) mark(child);
}

const FOOTNOTES = "footnote-label";

/** The heading of footnotes has the same id in every text: in this one it gets the text's own. */
export function ownFootnotes(scope: string) {
  return () =>
    (tree: Root): void => rename(tree, scope);
}

function rename(parent: Root | Element, scope: string): void {
  for (const child of parent.children) {
    if (child.type !== "element") continue;
    const { id, ariaDescribedBy } = child.properties;
    if (id === FOOTNOTES) child.properties["id"] = scope + FOOTNOTES;
    if (Array.isArray(ariaDescribedBy)) child.properties["ariaDescribedBy"] = ariaDescribedBy.map((each) => (each === FOOTNOTES ? scope + FOOTNOTES : each));
    rename(child, scope);
  }
}

export function placedFormulas(formulas: readonly Formula[]) {
  return () =>
    (tree: Root): void => {
      if (formulas.length > 0) place(tree, formulas);
    };
}

function place(parent: Root | Element, formulas: readonly Formula[]): void {
  const children = (parent.children as ElementContent[]).flatMap((child) => {
    if (child.type === "text") return pieces(child, formulas);
    if (child.type === "element") place(child, formulas);
    return [child];
  });
  parent.children = children;
}

function pieces(text: Text, formulas: readonly Formula[]): ElementContent[] {
  if (!MARK.test(text.value)) return [text];
  return text.value.split(new RegExp(MARK, "g")).map((piece, number): ElementContent => {
    const formula = number % 2 === 1 ? formulas[Number(piece)] : undefined;
    if (!formula) return { type: "text", value: piece };
    return { type: "element", tagName: FORMULA, properties: { source: formula.source, mode: formula.display ? "display" : "inline" }, children: [] };
  });
}
