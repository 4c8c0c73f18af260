/** A part of the program that is installed on demand. */
export interface ExtraPart {
  /** Purpose of the part; completes "not installed, which is required for …". */
  readonly purpose: string;
  /** Packages that the program imports. Their dependencies are in the lock file of the extra. */
  readonly packages: readonly string[];
  /**
   * True if the packages are built from this repository. They depend on this program, which is linked into the extra
   * instead of being downloaded again. The build of the published package adds their sha512 to the lock file.
   */
  readonly isOwn?: true;
}

/** All extras. `npm run extras` writes the versions of their packages into `pins.ts` and `locks/`. */
export const PARTS = {
  python: { purpose: "Python in the sandbox", packages: ["@toolyard/python-wasi"], isOwn: true },
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
    purpose: "local OCR of images (with the English data)",
    packages: ["tesseract-wasm", "@tesseract.js-data/eng"],
  },
  pictures: {
    purpose: "images of GNN models",
    packages: ["@hpcc-js/wasm-graphviz", "@resvg/resvg-wasm"],
  },
  sqlite: { purpose: "the document library on Node versions before 22.13", packages: ["libsql"] },
  library: { purpose: "the document library", packages: ["@toolyard/library"], isOwn: true },
  gnn: { purpose: "Active Inference models in GNN", packages: ["@toolyard/gnn"], isOwn: true },
  postgres: { purpose: "a document library in PostgreSQL", packages: ["pg"] },
  redis: { purpose: "state that several hubs share", packages: ["ioredis", "bullmq"] },
  "sign-in": { purpose: "sign-in to this hub without another identity provider", packages: ["oidc-provider"] },
} as const satisfies Readonly<Record<string, ExtraPart>>;

export type ExtraName = keyof typeof PARTS;
