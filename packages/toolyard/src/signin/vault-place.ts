import { statSync } from "node:fs";
import { join } from "node:path";

/** The folder of the vault in the data folder. */
export function vaultFolder(dataFolder: string): string {
  return join(dataFolder, "vault");
}

export function vaultFile(folder: string): string {
  return join(folder, "vault.json");
}

/** Name of the file that records which issuer configured credentials belong to. */
export const ISSUER_FILE = "issuers.json";

export function issuerFile(folder: string): string {
  return join(folder, ISSUER_FILE);
}

/** Another number when the file was changed; 0 where there is none. Cheap enough to look again and again. */
export function vaultChangedAt(folder: string): number {
  return statSync(vaultFile(folder), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
