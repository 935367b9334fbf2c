import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/cloister/interfaces/http/console/built",
    emptyOutDir: true,
    target: "es2023",
    // An inlined asset would be a data: address, which the content security policy refuses for fonts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
  },
  server: { proxy: Object.fromEntries(["/v1", "/org", "/console"].map((path) => [path, "http://127.0.0.1:8420"])) },
  test: { environment: "happy-dom", testTimeout: 60_000, include: ["test/**/*.test.{ts,tsx}"] },
});
