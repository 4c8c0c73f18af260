import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";

const VARIABLE = "TOOLYARD_CANARY";

/**
 * Resources that an attack must not touch: a file, a variable, listeners, a folder. Each is real, and reports access.
 */
export class Canaries {
  readonly folder = mkdtempSync(join(tmpdir(), "toolyard-attack-"));
  readonly #fileSecret = `file-${crypto.randomUUID()}`;
  readonly #variableSecret = `variable-${crypto.randomUUID()}`;
  readonly #heard: string[] = [];
  readonly #tcp: Server = createServer((socket) => (this.#heard.push("a TCP connection"), socket.destroy()));
  readonly #local: Server = createServer(
    (socket) => (this.#heard.push("a connection to a local socket"), socket.destroy()),
  );
  readonly #http: HttpServer = createHttpServer(
    (request, response) => (this.#heard.push(`an HTTP request for ${request.url}`), response.end()),
  );
  readonly #udp: Socket = createSocket("udp4", () => this.#heard.push("a UDP packet"));
  #ports = { tcp: 0, http: 0, udp: 0 };

  async open(): Promise<void> {
    writeFileSync(join(this.folder, "secret.txt"), this.#fileSecret);
    writeFileSync(join(this.folder, "secret_module.py"), `SECRET = ${JSON.stringify(this.#fileSecret)}\n`);
    writeFileSync(join(this.folder, "secret.json"), JSON.stringify({ secret: this.#fileSecret }));
    process.env[VARIABLE] = this.#variableSecret;
    this.#tcp.listen(0, "127.0.0.1");
    this.#http.listen(0, "127.0.0.1");
    this.#local.listen(join(this.folder, "socket"));
    this.#udp.bind(0, "127.0.0.1");
    await Promise.all([this.#tcp, this.#http, this.#local, this.#udp].map((server) => once(server, "listening")));
    const portOf = (server: Server | HttpServer): number => (server.address() as AddressInfo).port;
    this.#ports = { tcp: portOf(this.#tcp), http: portOf(this.#http), udp: this.#udp.address().port };
  }

  async close(): Promise<void> {
    delete process.env[VARIABLE];
    for (const server of [this.#tcp, this.#http, this.#local]) server.close();
    this.#udp.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Inserts the locations of the canaries into the code. */
  aim(code: string): string {
    const places: Readonly<Record<string, string | number>> = {
      file: join(this.folder, "secret.txt"),
      json: join(this.folder, "secret.json"),
      folder: this.folder,
      socket: join(this.folder, "socket"),
      variable: VARIABLE,
      port: this.#ports.tcp,
      http: this.#ports.http,
      udp: this.#ports.udp,
    };
    return code.replaceAll(/\{\{(\w+)\}\}/gu, (whole, name: string) => String(places[name] ?? whole));
  }

  /**
   * Returns the touched canaries, according to the attack's output and to their own records. Empty if there are none.
   */
  touched(shown: string): string[] {
    const found = [...this.#heard];
    if (shown.includes(this.#fileSecret)) found.push("the file was read");
    if (shown.includes(this.#variableSecret)) found.push("the variable was read");
    // Paths of this program and its user; the attack's own paths are excluded.
    const own = [
      process.cwd(),
      process.execPath,
      join(homedir(), "."),
      join("dist", "runtimes"),
      join("dist", "sandbox"),
    ].filter((place) => place.length > 1);
    for (const place of own) if (shown.includes(place)) found.push(`a path of the host is shown: ${place}`);
    if (shown.includes(`"${hostname()}"`)) found.push("the name of the host is shown");
    const there = readdirSync(this.folder).toSorted().join(" ");
    if (there !== "secret.json secret.txt secret_module.py socket") found.push(`something was written: ${there}`);
    if (Object.keys(Object.prototype).length > 0 || "polluted" in {}) found.push("a prototype of the hub was changed");
    return found;
  }
}
