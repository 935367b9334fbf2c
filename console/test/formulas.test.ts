import { describe, expect, it } from "vitest";

import { takeFormulas } from "../src/chat/words/formulas";

const sources = (text: string) => takeFormulas(text).formulas.map((each) => (each.display ? `[${each.source}]` : each.source));

describe("formulas", () => {
  it("stand between brackets or dollars", () => {
    expect(sources("So \\(a^2\\) and $b_1$.")).toEqual(["a^2", "b_1"]);
    expect(sources("\\[\nx = 1\n\\]\n\n$$\ny\n$$")).toEqual(["[\nx = 1\n]", "[\ny\n]"]);
    expect(takeFormulas("a \\(x\\) b").text).toBe("a \uE0000\uE001 b");
  });

  it("are no prices, and nothing that is not closed", () => {
    expect(sources("It costs $5 and $6, or $ 7 $.")).toEqual([]);
    expect(sources("From $10 to $20 a month")).toEqual([]);
    expect(sources("open \\( and $x and \\[ and $$")).toEqual([]);
    expect(sources("US$5 and 5$")).toEqual([]);
    expect(sources("\\$5 is not $x$5")).toEqual([]);
  });

  it("are not looked for in code", () => {
    expect(sources("`$a$` and ``\\(b\\)``")).toEqual([]);
    expect(sources("```sh\necho $HOME $PATH$\n```\n\n$c$")).toEqual(["c"]);
    expect(sources("- list\n  ```\n  \\(a\\)\n  ```\n\\(b\\)")).toEqual(["b"]);
    expect(sources("```\n\\(a\\)")).toEqual([]);
  });

  it("cannot be feigned with the marks that stand for them", () => {
    const { text, formulas } = takeFormulas("\uE0000\uE001 $x$");
    expect(formulas).toHaveLength(1);
    expect(text).toBe("\uFFFD0\uFFFD \uE0000\uE001");
  });

  it("take no time that grows faster than the text", () => {
    // Quadratic work on any of these would outlast the patience of the test.
    for (const text of ["\\( $ \\[ `$$ ", "`", "```\n$x\n", "\\(", "$a", "x```"]) expect(takeFormulas(text.repeat(200_000) + "\\)").text).not.toBe("");
  });
});
