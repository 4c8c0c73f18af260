// Many users, a few servers with a sign-in per user, and a hub between them in a separate process.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataFolder } from "../../packages/toolyard/src/core/data-folder.ts";
import { objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { resolveRemoteServer } from "../../packages/toolyard/src/providers/http/options.ts";
import { signInPlace } from "../../packages/toolyard/src/providers/http/sign-in-place.ts";
import { createContext } from "../../packages/toolyard/src/signin/context.ts";
import { login } from "../../packages/toolyard/src/signin/login.ts";
import { vaultFolder } from "../../packages/toolyard/src/signin/vault-place.ts";
import { startAuthServer, type AuthServer } from "../fixtures/auth-server.ts";
import { startPersonal, wordOf, type PersonalServer } from "../fixtures/personal-server.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient, type EraName } from "../fixtures/raw/raw-client.ts";
import { ServeChild } from "../support/serve-child.ts";

export interface CrowdSize {
  readonly people: number;
  readonly servers: number;
  readonly workers: number;
}

export interface Person {
  readonly name: string;
  readonly token: string;
  /** True for a user with all rights. The others have a `deny` pattern, but it matches nothing. */
  readonly isOwner: boolean;
}

/** Texts that one user received, by the surface that delivered them, such as `search` or `messages`. */
export type TextsByServer = ReadonlyMap<string, string>;

export class Crowd implements AsyncDisposable {
  readonly people: readonly Person[];
  readonly servers: readonly PersonalServer[];
  readonly auth: AuthServer;
  readonly served: ServeChild;
  readonly home: string;

  private constructor(parts: Pick<Crowd, "people" | "servers" | "auth" | "served" | "home">) {
    ({ people: this.people, servers: this.servers, auth: this.auth, served: this.served, home: this.home } = parts);
  }

  static async open({ people: count, servers: width, workers }: CrowdSize): Promise<Crowd> {
    const auth = await startAuthServer();
    const servers = await Promise.all(Array.from({ length: width }, (_, at) => startPersonal(auth, `srv${at}`)));
    const home = await mkdtemp(join(tmpdir(), "toolyard-crowd-"));
    const people = Array.from({ length: count }, (_, at) => ({
      name: `p${at}q`,
      token: `t0ken-of-p${at}q`,
      isOwner: at % 2 === 0,
    }));
    for (const { name } of people) for (const server of servers) await signIn(name, { server, home });
    const tokens = Object.fromEntries(
      people.map(({ name, token, isOwner }) => [name, { token, ...(!isOwner && { deny: ["nothing__*"] }) }]),
    );
    const served = await ServeChild.start({
      config: {
        server: { tokens },
        mcp: {
          remote_servers: servers.map(({ name, url }) => ({ alias: name, url, credentials: "per-caller" as const })),
        },
        logging: { level: "debug", format: "json" },
        audit: { file: join(home, "audit.log") },
        catalog: { cold_wait: 60_000 },
      },
      args: workers > 1 ? ["--workers", String(workers)] : [],
      env: { TOOLYARD_HOME: home },
    });
    return new Crowd({ people, servers, auth, served, home });
  }

  /**
   * Returns everything that a user receives on every surface. Awaits `ready` before the servers send notifications.
   */
  async visit(
    person: Person,
    { ready, withCode }: { ready: () => Promise<void>; withCode: boolean },
  ): Promise<TextsByServer> {
    const heard = new Map<string, string>();
    const [legacy, modern] = await Promise.all([this.#connect(person, "legacy"), this.#connect(person, "modern")]);
    try {
      const uris = this.servers.map(({ name }) => `${name}://${person.name}/note`);
      for (const client of [legacy, modern]) {
        await client.list("tools/list", "tools");
        await client.list("resources/list", "resources");
        for (const uri of uris) await client.result("resources/read", { uri });
        await client.listen(uris);
      }
      await legacy.result("logging/setLevel", { level: "debug" });
      await ready();
      await this.#stir(legacy);
      await this.#otherSurfaces(person, heard);
      if (withCode) {
        const code = this.servers.map(({ name }) => `await tools.${name}.whoami({})`).join(", ");
        const ran = await modern.tool("execute_code", { language: "javascript", code: `return [${code}];` });
        heard.set("code", JSON.stringify(ran));
      }
      const search = { query: `of ${person.name}`, limit: 10 };
      heard.set("search", JSON.stringify(await modern.tool("tool_search", search)));
      heard.set("legacy", JSON.stringify([legacy.opening, legacy.received]));
      heard.set("modern", JSON.stringify([modern.opening, modern.received]));
      heard.set("notifications", JSON.stringify(legacy.heard("notifications/resources/updated")));
      // Users with all rights receive messages that belong to no call.
      if (person.isOwner) heard.set("messages", JSON.stringify(legacy.heard("notifications/message")));
      return heard;
    } finally {
      await Promise.all([legacy.close(), modern.close()]);
    }
  }

  /** Returns entries of another user that this user can access by name. */
  async intrude(person: Person, other: Person): Promise<readonly string[]> {
    const client = await this.#connect(person, "modern");
    try {
      const [{ name }] = this.servers as [PersonalServer];
      const tries: [string, JsonObject][] = [
        ["tools/call", { name: `${name}__of_${other.name}`, arguments: {} }],
        ["resources/read", { uri: `${name}://${other.name}/note` }],
      ];
      const answers: string[] = [];
      for (const [method, params] of tries) answers.push(JSON.stringify(await client.call(method, params)));
      answers.push((await this.#rest(person, `/api/tools/${name}__of_${other.name}`, {})).text);
      return answers.filter((answer) => answer.includes(wordOf(name, other.name)));
    } finally {
      await client.close();
    }
  }

  async audit(): Promise<string> {
    return readFile(join(this.home, "audit.log"), "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.served[Symbol.asyncDispose]();
    await Promise.all([...this.servers.map((server) => server.close()), this.auth.stop()]);
    await rm(this.home, { recursive: true, force: true });
  }

  #connect({ token }: Person, era: EraName): Promise<RawClient> {
    const wire = new HttpWire(this.served.url, era, { authorization: `Bearer ${token}` });
    return RawClient.open(wire, { era, logLevel: "debug", patienceMs: 60_000 });
  }

  /** Makes each server change its lists, log and notify, and waits until all of that has arrived. */
  async #stir(client: RawClient): Promise<void> {
    const told = this.servers.map(({ name }) =>
      client.next("notifications/resources/updated", (message) =>
        JSON.stringify(objectMember(message, "params")).includes(`${name}://`),
      ),
    );
    const changed = client.next("notifications/tools/list_changed");
    for (const { name } of this.servers) await client.tool(`${name}__stir`);
    await Promise.all([...told, changed]);
    await client.list("tools/list", "tools");
  }

  async #otherSurfaces(person: Person, heard: Map<string, string>): Promise<void> {
    const rest = [await this.#rest(person, "/api/tools"), await this.#rest(person, "/openapi.json")];
    const rpc: string[] = [];
    for (const { name } of this.servers) {
      rest.push(await this.#rest(person, `/api/tools/${name}__whoami`, {}));
      rest.push(await this.#rest(person, `/api/resources?uri=${encodeURIComponent(`${name}://${person.name}/note`)}`));
      const body = { jsonrpc: "2.0", id: 1, method: `${name}__whoami`, params: {} };
      rpc.push((await this.#rest(person, "/jsonrpc", body)).text);
    }
    rest.push(await this.#rest(person, `/api/tools?query=${encodeURIComponent(`of ${person.name}`)}`));
    heard.set("REST", rest.map(({ text }) => text).join("\n"));
    heard.set("JSON-RPC", rpc.join("\n"));
  }

  async #rest({ token }: Person, path: string, body?: JsonObject): Promise<{ readonly text: string }> {
    const response = await fetch(new URL(path, this.served.url), {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { text: await response.text() };
  }
}

/** Signs in as the user, with the user's own browser. */
async function signIn(name: string, { server, home }: { server: PersonalServer; home: string }): Promise<void> {
  const options = resolveRemoteServer({ url: server.url, credentials: "per-caller" });
  const where = { environment: {}, folder: vaultFolder(dataFolder({ TOOLYARD_HOME: home })), logger: SILENT_LOGGER };
  const context = createContext(signInPlace({ label: server.name, options, principal: name, ...where }));
  const show = async (address: string): Promise<void> => {
    await (await fetch(address, { headers: { "x-person": name } })).text();
  };
  await login(context, { show, signal: AbortSignal.timeout(60_000) });
  await context.network.close();
}

/** Returns the places where texts of another user reached a user, as `surface: word`. */
export function foreignWords(crowd: Crowd, person: Person, heard: TextsByServer): readonly string[] {
  return Array.from(heard).flatMap(([surface, text]) =>
    crowd.people
      .filter((other) => other !== person)
      .flatMap((other) => crowd.servers.map(({ name }) => wordOf(name, other.name)))
      .filter((word) => text.includes(word))
      .map((word) => `${surface}: ${word}`),
  );
}

/** Returns each surface that lacks a text of a server for this user, as `surface: server`. */
export function missingWords({ servers }: Crowd, { name }: Person, heard: TextsByServer): readonly string[] {
  return Array.from(heard).flatMap(([surface, text]) =>
    servers.filter((one) => !text.includes(wordOf(one.name, name))).map((one) => `${surface}: ${one.name}`),
  );
}
