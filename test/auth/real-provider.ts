import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** `oidc-provider` as a child process. */
export class RealProvider implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  /** Starts a script of this folder, which prints its address. */
  static async start(file = "oidc-provider.mjs", ...args: readonly string[]): Promise<RealProvider> {
    const script = fileURLToPath(new URL(file, import.meta.url));
    const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "ignore"] });
    for await (const line of createInterface(child.stdout)) {
      const url = /^url (\S+)$/.exec(line)?.[1];
      if (url !== undefined) return new RealProvider(url, child);
    }
    throw new Error("The provider ended before it printed its address.");
  }

  /** Requests an access token by client credentials. */
  async token(client: string, resource: string, scope = "tools"): Promise<string> {
    const answer = await this.#post("/token", client, { grant_type: "client_credentials", resource, scope });
    const { access_token: token } = (await answer.json()) as { readonly access_token?: string };
    if (token === undefined) throw new Error(`The provider answered ${answer.status} without a token.`);
    return token;
  }

  async revoke(client: string, token: string): Promise<void> {
    await this.#post("/token/revocation", client, { token });
  }

  #post(path: string, client: string, body: Record<string, string>): Promise<Response> {
    const authorization = `Basic ${Buffer.from(`${client}:${client}-secret`).toString("base64")}`;
    return fetch(this.url + path, { method: "POST", headers: { authorization }, body: new URLSearchParams(body) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
  }
}
