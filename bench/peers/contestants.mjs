// The contestants, and how each is started in front of the same server: `stdio`, as its child, or `http`, at a URL.
// `plan` returns what to start and how to call through it; for a missing way, `lacks` gives the reason.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../lib/hub.mjs";
import { openEvents, openRest } from "../lib/other-wires.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "node_modules");

/** The server behind every contestant. */
export const upstream = join(root, "bench/servers/sdk.mjs");
const asChild = [process.execPath, upstream];

/**
 * A plan has `command`, with `cwd` if needed; the `path` of its endpoint (a program that does not accept a port prints
 * it: `printsPort`); how to `open` a caller; and `request`, the name of the server's tool there. `sessions` limits the
 * number of sessions.
 */
export const CONTESTANTS = [
  {
    package: "@modelcontextprotocol/sdk",
    title: "SDK back to back",
    plan: ({ way, remote }) => ({ command: [join(here, "sdk-gateway.mjs"), ...target(way, remote)], printsPort: true }),
  },
  { package: "mcp-proxy", lacks: { http: "supports stdio servers only" }, plan: mcpProxy },
  {
    package: "supergateway",
    lacks: { http: "serves a remote server to stdio only, not over HTTP" },
    plan: supergateway,
  },
  { package: "mcp-hub", note: "its REST", plan: mcpHub },
  { package: "mcporter", plan: mcporter },
  {
    package: "mcp-use",
    note: "its proxy over the SDK's client",
    plan: ({ way, remote }) => ({
      command: [join(here, "mcp-use-gateway.mjs"), ...target(way, remote)],
      printsPort: true,
      request: prefixed("echo_"),
    }),
  },
  { package: "@standardbeagle/slop-mcp", title: "slop-mcp", note: "HTTP+SSE", plan: slopMcp },
];

/** Returns the installed version of a contestant's package, or the requested version before it is installed. */
export function describe({ package: name }) {
  try {
    return JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
  } catch {
    return { version: JSON.parse(readFileSync(join(here, "package.json"), "utf8")).dependencies[name] };
  }
}

function target(way, remote) {
  return way === "stdio" ? asChild : [remote];
}

const prefixed = (prefix) => (name, args) => ({ name: prefix + name, args });

/** Returns the path of the program that has the same name as its package. */
function bin(name) {
  const { bin: bins } = describe({ package: name });
  return join(modules, name, typeof bins === "string" ? bins : bins[name]);
}

function mcpProxy({ port }) {
  return {
    command: [bin("mcp-proxy"), "--host", "127.0.0.1", "--port", port, "--server", "stream", "--", ...asChild],
    path: "/mcp",
  };
}

/**
 * Returns the plan for supergateway, which starts a server for each session, or for each call if there are no sessions.
 */
function supergateway({ port }) {
  const command = [
    bin("supergateway"),
    "--stdio",
    asChild.map((word) => JSON.stringify(word)).join(" "),
    "--outputTransport",
    "streamableHttp",
    "--stateful",
    "--port",
    port,
    "--logLevel",
    "none",
  ];
  return { command, path: "/mcp", sessions: 32 };
}

function mcpHub({ way, remote, port, place }) {
  const config = join(place, "servers.json");
  const [command, ...args] = asChild;
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { echo: way === "stdio" ? { command, args } : { url: remote } } }),
  );
  return {
    command: [bin("mcp-hub"), "--port", port, "--config", config],
    path: "/api/servers/tools",
    open: (url) => openRest(url, "echo"),
  };
}

/** Returns the plan for mcporter. A daemon that mcporter starts keeps the server running between calls. */
function mcporter({ way, remote, port, place }) {
  const [command, ...args] = asChild;
  const server = way === "stdio" ? { command, args } : { url: remote };
  mkdirSync(join(place, "config"));
  writeFileSync(
    join(place, "config/mcporter.json"),
    JSON.stringify({ mcpServers: { echo: { ...server, lifecycle: "keep-alive" } }, imports: [] }),
  );
  return { command: [bin("mcporter"), "serve", "--http", port], cwd: place, path: "/mcp", request: prefixed("echo__") };
}

/** Returns the plan for slop-mcp, a program in Go. Clients call the server's tools through one tool of slop-mcp. */
function slopMcp({ way, remote, port, place }) {
  const [command, ...args] = asChild;
  const how =
    way === "stdio"
      ? `type "stdio"\n  command ${JSON.stringify(command)}\n` +
        `  args ${args.map((word) => JSON.stringify(word)).join(" ")}`
      : `type "streamable"\n  url ${JSON.stringify(remote)}`;
  writeFileSync(join(place, ".slop-mcp.kdl"), `mcp "echo" {\n  ${how}\n}\n`);
  return {
    command: [join(modules, "@standardbeagle/slop-mcp/bin.js"), "serve", "--port", port],
    cwd: place,
    path: "/mcp",
    open: openEvents,
    request: (tool, args) => ({ name: "execute_tool", args: { mcp_name: "echo", tool_name: tool, parameters: args } }),
  };
}
