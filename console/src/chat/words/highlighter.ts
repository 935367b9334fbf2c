/** Colours for code; loaded with the first block that has a language. */

import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import type { ReactNode } from "react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";

const lowlight = createLowlight({ bash, c, css, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml });

/** The code in coloured pieces; as it is, where the language is not known. */
export function highlighted(code: string, language: string): ReactNode {
  if (!lowlight.registered(language)) return code;
  return toJsxRuntime(lowlight.highlight(language, code), { Fragment, jsx, jsxs }) as ReactNode;
}
