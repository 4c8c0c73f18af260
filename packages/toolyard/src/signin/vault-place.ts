import { statSync } from "node:fs";
import { join } from "node:path";

/** Returns the folder of the vault in the data folder. */
export function vaultFolder(dataFolder: string): string {
  return join(dataFolder, "vault");
}

export function vaultFile(folder: string): string {
  return join(folder, "vault.json");
}

/** Name of the file that records the issuer of configured credentials. */
export const ISSUER_FILE = "issuers.json";

export function issuerFile(folder: string): string {
  return join(folder, ISSUER_FILE);
}

/** Returns a number that changes with the vault's file; 0 if there is no file. Cheap enough to call often. */
export function vaultChangedAt(folder: string): number {
  return statSync(vaultFile(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
