import { isJsonObject, stringMember, type JsonObject } from "../../core/json/json.ts";
import { MAX_CLIENTS, TableFullError, type AuthTable } from "../../state/ports/auth-state.ts";
import { digestOf } from "./record-store.ts";

/** Registered clients. Commands change them while hubs are running. */
export class ClientRegistry {
  readonly #table: AuthTable;
  readonly #onRemoved: () => void;

  constructor(table: AuthTable, onRemoved: () => void = () => {}) {
    this.#table = table;
    this.#onRemoved = onRemoved;
  }

  async find(id: string): Promise<JsonObject | undefined> {
    return parseClient(await this.#table.get(digestOf(id)));
  }

  async has(id: string): Promise<boolean> {
    return (await this.#table.get(digestOf(id))) !== undefined;
  }

  /** Rejects with an error if `MAX_CLIENTS` is reached, or if the client cannot be stored. */
  async write(id: string, client: JsonObject): Promise<void> {
    try {
      await this.#table.put(digestOf(id), JSON.stringify(client));
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      throw new Error(`There are ${MAX_CLIENTS} registered clients. Remove some with \`toolyard client remove\`.`, {
        cause: error,
      });
    }
  }

  /** Resolves to true if the client existed. */
  async remove(id: string): Promise<boolean> {
    const existed = await this.#table.remove(digestOf(id));
    if (existed) this.#onRemoved();
    return existed;
  }

  /** Resolves with all clients, ordered by the time of their registration. */
  async list(): Promise<readonly JsonObject[]> {
    const clients = (await this.#table.all()).map(parseClient).filter((client) => client !== undefined);
    const issuedAt = (client: JsonObject): number => Number(client["client_id_issued_at"] ?? 0);
    return clients.toSorted((one, other) => issuedAt(one) - issuedAt(other));
  }
}

function parseClient(text = ""): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && stringMember(value, "client_id") !== undefined ? value : undefined;
  } catch {
    return undefined;
  }
}
