// Bubblewrap's command line: what a program behind it sees of the machine. It has an own view of processes, files,
// network, users and names; what is not bound into it is not there.
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { prlimitArguments, type MemoryMeasure, type ResourceLimits } from "../../process/resource-limits.ts";
import { openSeccompFilter, seccompFilter } from "./seccomp.ts";

/** How bubblewrap is used here. */
export interface BwrapFound {
  /** Full path of bubblewrap. */
  readonly file: string;
  /**
   * How the program becomes `nobody`. `namespace`: the hub is no root, and inside a user namespace that user is called
   * so. Where the hub is root, rights are given up for good: `inside`, once all is bound, so that what only root may
   * enter can be bound; or `outside`, before, where root may make no namespaces.
   */
  readonly identity: "namespace" | "inside" | "outside";
  /** Full path; empty where the hub is no root. */
  readonly setpriv: string;
  /** Full path; bounds of resources are not kept without it. */
  readonly prlimit: string | undefined;
}

export interface BwrapOptions {
  /** Full path of the program, as seen inside. */
  readonly command: string;
  readonly args: readonly string[];
  /** Working folder, as seen inside: one of those bound, or `/tmp`. */
  readonly cwd: string;
  /** Files and folders of this machine that are there to be read, at the same path. What does not exist is left out. */
  readonly readable: readonly string[];
  /** Those that may be written too. */
  readonly writable: readonly string[];
  /** Folders of this machine that are there under another path, to be read. */
  readonly readableAs?: readonly (readonly [path: string, inside: string])[];
  /** Empty folders in memory, of at most so many bytes each. */
  readonly scratch?: readonly (readonly [inside: string, bytes: number])[];
  /** Whether it may start processes. @default true */
  readonly processes?: boolean;
  /** The machine's own network, or none at all: not even the loopback of this machine. */
  readonly network: boolean;
  /** Of `/tmp` and everything else that is written inside and gone at the end. @default 64 MiB */
  readonly tmpBytes?: number;
  readonly limits: ResourceLimits;
  readonly measure: MemoryMeasure;
  /** Pipes that the child gets beside the three standard ones; the filter's descriptor comes after them. */
  readonly extraPipes: number;
}

/** What `spawnChild` needs: `files` goes there too. */
export interface BwrapCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly files: readonly (() => number)[];
}

const DEFAULT_TMP_BYTES = 64 * 1024 * 1024;

/**
 * The command line that runs a program behind bubblewrap: nothing of the machine but `/usr`, what is bound, an empty
 * `/tmp`, its own `/proc` and a few devices; user `nobody` without capabilities; system calls filtered; bounds set.
 * When it ends, or the hub does, the kernel ends everything that it started. The environment is whatever the child is
 * spawned with: pass `insideEnvironment(env)`.
 */
export function bwrapCommand(found: BwrapFound, options: BwrapOptions): BwrapCommand {
  const filter = seccompPart(options);
  const { tmpBytes = DEFAULT_TMP_BYTES } = options;
  const args = [
    ...(found.identity === "inside" ? DROPPED_OPTIONS : USERNS_OPTIONS),
    ...COMMON_OPTIONS,
    ...(options.network ? [] : ["--unshare-net"]),
    ...systemFolders(),
    ...(options.network ? networkFiles() : []),
    ...[["/tmp", tmpBytes] as const, ["/dev/shm", tmpBytes] as const, ...(options.scratch ?? [])].flatMap(
      ([path, bytes]) => ["--perms", "1777", "--size", String(bytes), "--tmpfs", path],
    ),
    ...bindings(options),
    // Without it, the places where the bindings and the devices hang could be written to, beyond the bound of /tmp.
    ...["/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    "--chdir",
    options.cwd,
    ...filter.args,
    "--",
    ...(found.identity === "inside" ? [found.setpriv, ...SETPRIV_OPTIONS] : []),
    ...(found.prlimit === undefined ? [] : [found.prlimit, ...prlimitArguments(options.limits, options.measure)]),
    options.command,
    ...options.args,
  ];
  if (found.identity !== "outside") return { command: found.file, args, files: filter.files };
  return { command: found.setpriv, args: [...SETPRIV_OPTIONS, found.file, ...args], files: filter.files };
}

/** An environment for inside: the home folder is not there, and what is temporary goes to `/tmp`. */
export function insideEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { ...env, HOME: "/tmp", TMPDIR: "/tmp" };
}

/**
 * The folders that a program outside of `/usr` needs for itself: `bin`, `lib` and what else stands beside it where it
 * lies in a `bin`, and otherwise the file alone. Never the folder above, which may be somebody's home.
 */
export function programFolders(file: string): string[] {
  const places = new Set([file, realPathOr(file)]);
  return Array.from(places).flatMap((path) => {
    if (path.startsWith("/usr/") || !existsSync(path)) return [];
    if (basename(dirname(path)) !== "bin") return [path];
    return BESIDE_BIN.map((name) => join(dirname(dirname(path)), name)).filter((folder) => existsSync(folder));
  });
}

const BESIDE_BIN = ["bin", "lib", "lib64", "libexec", "share", "pyvenv.cfg"];

const COMMON_OPTIONS = [
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--die-with-parent",
  "--new-session",
  "--hostname",
  "sandbox",
];
// Root keeps its right to bind what only root may enter, and the program itself becomes `nobody`, whom the bound on
// processes binds.
const DROPPED_OPTIONS = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];
const SETPRIV_OPTIONS = [
  "--reuid=65534",
  "--regid=65534",
  "--clear-groups",
  "--inh-caps=-all",
  "--ambient-caps=-all",
  "--",
];
const USERNS_OPTIONS = ["--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"];

function seccompPart({ network, processes = true, extraPipes }: BwrapOptions): Pick<BwrapCommand, "args" | "files"> {
  const filter = { sockets: network, processes };
  if (seccompFilter(filter) === undefined) return { args: [], files: [] };
  return { args: ["--seccomp", String(3 + extraPipes)], files: [() => openSeccompFilter(filter)!] };
}

const SYSTEM_FILES = [
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/alternatives",
  "/etc/localtime",
  "/etc/timezone",
  "/etc/ssl/openssl.cnf",
  "/nix/store",
];
const NETWORK_FILES = [
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/services",
  "/etc/gai.conf",
  "/etc/ssl/certs",
  "/etc/pki/tls/certs",
  "/etc/ca-certificates",
];

function systemFolders(): string[] {
  const links = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((path) => linkOrBinding(path));
  return ["--ro-bind", "/usr", "/usr", ...links, ...SYSTEM_FILES.flatMap(readOnly), "--proc", "/proc", "--dev", "/dev"];
}

/** On most systems `/bin` and the like are links into `/usr`. */
function linkOrBinding(path: string): string[] {
  try {
    return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  } catch {
    return [];
  }
}

function networkFiles(): string[] {
  return [...NETWORK_FILES.flatMap(readOnly), "--ro-bind-try", realPathOr("/etc/resolv.conf"), "/etc/resolv.conf"];
}

// A folder after those that hold it, or it would be covered; what is written after what is read.
function bindings({ readable, readableAs = [], writable }: BwrapOptions): string[] {
  const sorted = Array.from(new Set(readable)).toSorted((a, b) => a.length - b.length);
  const renamed = readableAs.flatMap(([path, inside]) => [...foldersAbove(inside), "--ro-bind", path, inside]);
  return [
    ...sorted.flatMap(readOnly),
    ...renamed,
    ...writable.flatMap((path) => [...foldersAbove(path), "--bind", path, path]),
  ];
}

function readOnly(path: string): string[] {
  return existsSync(path) ? [...foldersAbove(path), "--ro-bind-try", path, path] : [];
}

/** Made first, since those that bubblewrap makes on the way are closed to everybody but root. */
function foldersAbove(path: string): string[] {
  const above = dirname(path);
  return above === "/" || above === path ? [] : [...foldersAbove(above), "--dir", above];
}

function realPathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
