import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The system's store of secrets for the current user. */
export interface Keyring {
  /**
   * Returns the secret stored under this name; `undefined` if there is none, or if the keyring does not respond in
   * time.
   */
  read(name: string): Promise<string | undefined>;
  /** Stores a secret. Returns false if that failed. */
  write(name: string, secret: string): Promise<boolean>;
}

/** Time limit of one access. A keyring may prompt the user, or hang, so a separate process accesses it. */
const WAIT_MS = 2000;
/** Time limit of a write: the user at the terminal may have to unlock the keyring first. */
const WRITE_WAIT_MS = 30_000;
const MAX_OUTPUT_BYTES = 4096;

/** Returns the keyring of the system. `module`: a module with the interface of `@napi-rs/keyring`. */
export function systemKeyring(
  variables: Readonly<Record<string, string | undefined>>,
  module = "@napi-rs/keyring",
): Keyring {
  const run = (args: readonly string[], waitMs: number, input?: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      const all = [CHILD, module, ...args];
      const options = { timeout: waitMs, killSignal: "SIGKILL", maxBuffer: MAX_OUTPUT_BYTES } as const;
      const env = { ...variables } as NodeJS.ProcessEnv;
      const child = execFile(process.execPath, all, { ...options, env, windowsHide: true }, (error, stdout) =>
        resolve(error ? undefined : stdout),
      );
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    });
  return {
    read: async (name) => (await run(["read", name], WAIT_MS))?.trim() || undefined,
    write: async (name, secret) => (await run(["write", name], WRITE_WAIT_MS, secret)) !== undefined,
  };
}

/** Path of the built file, even if this file runs from its TypeScript source. */
const CHILD = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/signin/keyring-main.js" : "keyring-main.js", import.meta.url),
);
