import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";

import { Words } from "../src/chat/words/markdown";

afterEach(cleanup);

describe("a reply", () => {
  it("never becomes HTML of its own", () => {
    const { container } = render(<Words scope="one" text={'<img src=x onerror="alert(1)"> <script>alert(1)</script> <b>bold</b>'} />);
    expect(container.querySelector("img, script, b")).toBeNull();
  });

  it("fetches no picture, but offers to open it", () => {
    const { container } = render(<Words scope="one" text="![a rose](https://elsewhere.example/rose.png)" />);
    expect(container.querySelector("img")).toBeNull();
    expect(screen.getByRole("link", { name: "a rose" }).getAttribute("href")).toBe("https://elsewhere.example/rose.png");
  });

  it("leads nowhere with a script as its address", () => {
    render(<Words scope="one" text="[press](javascript:alert(1)) [data](data:text/html,hello)" />);
    expect(screen.queryAllByRole("link")).toHaveLength(0);
  });

  it("has tables, lists and code", () => {
    const { container } = render(<Words scope="one" text={"| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\n```\nplain\n```"} />);
    expect(container.querySelectorAll("td")).toHaveLength(2);
    expect(screen.getByRole("checkbox", { name: "Done" })).toBeTruthy();
    expect(container.querySelector("pre code")?.textContent).toBe("plain\n");
    expect(screen.getByRole("button", { name: "Copy code" })).toBeTruthy();
  });

  it("is coloured where the language is known, and whole where it is not", async () => {
    const { container } = render(<Words scope="one" text={'```python\nprint("safe")\n```\n\n```klingon\nqapla\n```'} />);
    // The colours are loaded when they are first needed, which takes long on a busy machine.
    await screen.findByText('"safe"', {}, { timeout: 30_000 });
    expect(container.querySelector(".hljs-string")?.textContent).toBe('"safe"');
    expect(container.textContent).toContain("qapla");
  });
});
