import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Every browser that runs the console reads woff2: the other formats of the fonts of formulas are left out. */
const onlyWoff2: Plugin = {
  name: "only-woff2",
  enforce: "pre",
  transform: (code, id) => (id.endsWith("katex.css") ? code.replaceAll(/, url\([^)]+\.(?:woff|ttf)\) format\("\w+"\)/g, "") : undefined),
};

export default defineConfig({
  plugins: [react(), onlyWoff2],
  build: {
    outDir: "../src/cloister/interfaces/http/console/built",
    emptyOutDir: true,
    target: "es2023",
    // An inlined asset would be a data: address, which the content security policy refuses for fonts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_500,
    modulePreload: { polyfill: false },
  },
  server: { proxy: Object.fromEntries(["/v1", "/org", "/console"].map((path) => [path, "http://127.0.0.1:8420"])) },
  test: { environment: "happy-dom", testTimeout: 60_000, include: ["test/**/*.test.{ts,tsx}"] },
});
