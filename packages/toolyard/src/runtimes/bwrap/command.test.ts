import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { childEnvironment } from "../../process/environment.ts";
import { spawnChild, type Exit } from "../../process/child.ts";
import { bwrapCommand, insideEnvironment, programFolders, type BwrapOptions } from "./command.ts";
import { probeBwrap } from "./probe.ts";
import { openSeccompFilter, seccompFilter } from "./seccomp.ts";

const { found } = await probeBwrap();
let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-bwrap-")));
  // If the tests run as root, the contained program is user `nobody` and must be able to read the folder.
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

async function sh(script: string, more: Partial<BwrapOptions> = {}, extraPipes = 0, use = found!): Promise<Ran> {
  const line = bwrapCommand(use, {
    command: "/bin/sh",
    args: ["-c", script],
    cwd: "/tmp",
    readable: [],
    writable: [],
    network: false,
    limits: {},
    measure: "data",
    extraPipes,
    ...more,
  });
  const child = await spawnChild({ ...line, env: insideEnvironment(childEnvironment()), extraPipes });
  child.stdin.end();
  const texts = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString()),
  );
  const exit = await child.exited;
  await child.gone;
  return { ...exit, stdout: texts[0]!, stderr: texts[1]! };
}

describe("system call filter", () => {
  test("contains complete instructions for each known processor, and is absent for others", () => {
    for (const architecture of ["x64", "arm64"] as const)
      expect(seccompFilter({ sockets: false, processes: true }, architecture)!.length % 8).toBe(0);
    expect(
      seccompFilter({ sockets: false, processes: true }, "x64")!.length -
        seccompFilter({ sockets: true, processes: true }, "x64")!.length,
    ).toBe(16);
    expect(seccompFilter({ sockets: false, processes: true }, "mips")).toBeUndefined();
  });

  test.runIf(process.platform === "linux" && ["x64", "arm64"].includes(process.arch))(
    "gives each descriptor its own read position",
    async () => {
      const { closeSync, readSync } = await import("node:fs");
      const read = () => {
        const descriptor = openSeccompFilter({ sockets: true, processes: true })!;
        const bytes = Buffer.alloc(8192);
        const length = readSync(descriptor, bytes);
        closeSync(descriptor);
        return bytes.subarray(0, length);
      };
      expect(read()).toEqual(seccompFilter({ sockets: true, processes: true }));
      expect(read()).toEqual(seccompFilter({ sockets: true, processes: true }));
    },
  );
});

test("reports missing bubblewrap with advice", async () => {
  expect(await probeBwrap("/no/such/bwrap")).toEqual({
    reason: expect.stringContaining("Install your system's package `bubblewrap`"),
  });
});

test("does not use a bubblewrap that fails, and reports its message", async () => {
  const path = join(folder, "bwrap");
  writeFileSync(path, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", { mode: 0o755 });
  expect(await probeBwrap(path)).toEqual({ reason: expect.stringContaining("No permissions to create new namespace") });
});

test("returns the sibling folders of a program's folder, but never the folder above", () => {
  expect(programFolders("/usr/bin/env")).toEqual([]);
  writeFileSync(join(folder, "alone"), "");
  expect(programFolders(join(folder, "alone"))).toEqual([join(folder, "alone")]);
});

describe("a contained program", () => {
  beforeEach(({ skip }) => skip(!found, "bubblewrap is not on this machine"));

  test("runs as user `nobody`, alone, without rights", async () => {
    const { stdout } = await sh(
      "id -u; ls /proc | grep -c '^[0-9]'; grep -E 'CapEff|CapPrm|NoNewPrivs|^Seccomp:' /proc/self/status | " +
        "tr -d '\\t'; ls /",
    );
    const [uid, processes, ...rest] = stdout.split("\n");
    expect(uid).toBe("65534");
    expect(Number(processes)).toBeLessThan(8);
    expect(rest.slice(0, 4)).toEqual([
      "CapPrm:0000000000000000",
      "CapEff:0000000000000000",
      "NoNewPrivs:1",
      "Seccomp:2",
    ]);
    expect(stdout).not.toMatch(/^(?:root|home|work|var)$/m);
  });

  test("runs as user `nobody` also if root may not create namespaces", async ({ skip }) => {
    skip(found?.identity !== "inside", "only as root");
    expect(
      (await sh("id -u; cat /proc/self/uid_map", {}, 0, { ...found!, identity: "outside" })).stdout.split("\n")[0],
    ).toBe("65534");
  });

  test("sees only bound paths, and writes only to writable ones", async () => {
    writeFileSync(join(folder, "seen"), "yes");
    const inside = await sh(
      `cat ${folder}/seen; echo no > ${folder}/made; echo no > /made; echo no > /usr/made; ` +
        "cat /etc/passwd /etc/shadow; echo /root/* /home/*",
      { readable: [folder], cwd: folder },
    );
    expect(inside.stdout.trim()).toBe("yes/root/* /home/*");
    expect(inside.stderr.match(/Read-only file system/g)).toHaveLength(3);
    expect((await sh(`cat ${folder}/seen`)).stderr).toContain("No such file");
  });

  test("reaches no listener of this machine, except with `network`", async () => {
    const server = createServer((socket) => socket.end("heard"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const code = `import socket\ns = socket.create_connection(("127.0.0.1", ${port}), 5)\nprint(s.recv(9).decode())`;
    const run = (network: boolean) => sh(`exec /usr/bin/python3 -I -c '${code}'`, { network });
    try {
      expect((await run(true)).stdout).toBe("heard\n");
      const closed = await run(false);
      expect(closed.code).not.toBe(0);
      expect(closed.stderr).toMatch(/PermissionError|unreachable/);
    } finally {
      server.close();
    }
  });

  test("cannot create namespaces, mount or trace", async () => {
    const { stdout } = await sh(
      "for c in 'unshare -U true' 'unshare -m true' 'mount -t tmpfs none /tmp' 'chroot / true' 'nsenter -t 1 " +
        '-p true\'; do $c 2>/dev/null && echo "$c"; done; echo end',
    );
    expect(stdout).toBe("end\n");
  });

  test("may start threads but no processes if processes are denied", async () => {
    const code =
      'import os, subprocess, threading\nt = threading.Thread(target=print, args=("thread",)); t.start(); ' +
      't.join()\nfor start in (os.fork, lambda: subprocess.run(["/bin/true"]), lambda: os.system("true")):\n' +
      "  try: print(start())\n  except OSError as e: print(type(e).__name__)";
    const { stdout } = await sh(`exec /usr/bin/python3 -I -c '${code}'`, { processes: false });
    expect(stdout.split("\n")).toEqual(["thread", "PermissionError", "PermissionError", "32512", ""]);
  });

  test("writes nothing beyond the limit of temporary files", async () => {
    const { stdout } = await sh(
      "for d in /tmp /dev/shm /work; do head -c 3000000 /dev/zero > $d/x 2>/dev/null; wc -c < $d/x; done; " +
        "touch /dev/x 2>/dev/null || echo no",
      { tmpBytes: 1_048_576, scratch: [["/work", 2_097_152]] },
    );
    expect(stdout.split("\n")).toEqual(["1048576", "1048576", "2097152", "no", ""]);
  });

  test("stops a fork bomb at the limit, and passes additional pipes", async () => {
    const bomb = "i=0; while [ $i -lt 100 ]; do sleep 30 & i=$((i+1)); done 2>/dev/null; echo survived";
    const { stdout, code } = await sh(bomb, { limits: { processes: 20 } }, 1);
    expect([stdout.includes("survived"), code !== 0]).toContain(true);
  });
});
