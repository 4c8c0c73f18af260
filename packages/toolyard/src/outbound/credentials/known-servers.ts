/** Known deviations of a server, as members of `OAuthOptions`. */
interface KnownServer {
  readonly registration?: "document" | "dynamic";
  readonly redirectHost?: "127.0.0.1" | "localhost";
  readonly redirectPort?: number;
  readonly registerAt?: string;
}

/**
 * Servers that deviate from their metadata, or offer no client registration, by host. The user's settings override
 * them.
 */
const KNOWN_SERVERS: Readonly<Record<string, KnownServer>> = {
  "api.githubcopilot.com": { registerAt: "https://github.com/settings/developers" },
  "mcp.asana.com": { registerAt: "https://app.asana.com/0/my-apps" },
  // Announces support for client ID metadata documents, but refuses the tokens of such clients, according to reports.
  "mcp.linear.app": { registration: "dynamic" },
  // Compares redirects character by character.
  "mcp.slack.com": { registerAt: "https://api.slack.com/apps", redirectHost: "localhost", redirectPort: 3118 },
};

export function knownServer({ hostname }: URL): KnownServer {
  return Object.hasOwn(KNOWN_SERVERS, hostname) ? KNOWN_SERVERS[hostname]! : {};
}
