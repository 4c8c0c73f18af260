import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, stringMember, type JsonObject } from "../../core/json/json.ts";
import { writeWhole } from "../../files/write-whole.ts";
import { digestOf } from "./record-store.ts";

/** Maximum number of registered clients; further registrations are refused. */
export const MAX_CLIENTS = 1000;

/** Registered clients, one file for each. Files are read on each use, because commands change them too. */
export class ClientRegistry {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async find(id: string): Promise<JsonObject | undefined> {
    return parseClient(await readFile(this.#fileOf(id), "utf8").catch(() => ""));
  }

  async has(id: string): Promise<boolean> {
    return stat(this.#fileOf(id)).then(
      () => true,
      () => false,
    );
  }

  /** Rejects with an error if `MAX_CLIENTS` is reached, or if the file cannot be written. */
  async write(id: string, client: JsonObject): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    if (!(await this.has(id)) && (await readdir(this.#folder)).length >= MAX_CLIENTS)
      throw new Error(`There are ${MAX_CLIENTS} registered clients. Remove some with \`toolyard client remove\`.`);
    await writeWhole(this.#fileOf(id), JSON.stringify(client));
  }

  /** Resolves to true if the client existed. */
  async remove(id: string): Promise<boolean> {
    if (!(await this.has(id))) return false;
    await rm(this.#fileOf(id), { force: true });
    return true;
  }

  /** Resolves with all clients, ordered by the time of their registration. */
  async list(): Promise<readonly JsonObject[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const clients = await Promise.all(
      names.map(async (name) => parseClient(await readFile(join(this.#folder, name), "utf8").catch(() => ""))),
    );
    const issuedAt = (client: JsonObject): number => Number(client["client_id_issued_at"] ?? 0);
    return clients.filter((client) => client !== undefined).toSorted((one, other) => issuedAt(one) - issuedAt(other));
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${digestOf(id)}.json`);
  }
}

function parseClient(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && stringMember(value, "client_id") !== undefined ? value : undefined;
  } catch {
    return undefined;
  }
}
