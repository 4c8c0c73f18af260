import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { desktopPath, enrichment, serverVariables, usablePath } from "./server-environment.ts";

const linux = { platform: "linux" } as const;

test("picks PATH, proxies, certificates and settings of package managers, but no login", () => {
  const environment = {
    PATH: "/bin",
    HTTPS_PROXY: "http://proxy",
    NODE_EXTRA_CA_CERTS: "/ca.pem",
    npm_config_registry: "https://npm.example",
    UV_INDEX_URL: "https://pypi.example",
    "npm_config_//npm.example/:_authToken": "secret",
    API_TOKEN: "secret",
    HOME: "/home/ada",
    NO_PROXY: "",
  };
  expect(Object.keys(serverVariables(environment))).toEqual([
    "PATH",
    "HTTPS_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "npm_config_registry",
    "UV_INDEX_URL",
  ]);
});

describe("enrichment", () => {
  test.each([
    ["/bin", "/usr/bin:/opt/bin", "/bin:/usr/bin:/opt/bin"],
    ["/bin:/usr/bin", "/usr/bin:/opt/bin", "/bin:/usr/bin:/opt/bin"],
    ["", "/opt/bin", "/opt/bin"],
  ])("adds to %j the variables and folders that only %j has", (own, other, joined) => {
    expect(enrichment({ PATH: own }, { PATH: other }, linux)).toEqual({ PATH: joined });
  });

  test("puts the folders of the better environment first if requested", () => {
    expect(enrichment({ PATH: "/bin" }, { PATH: "/opt/bin:/bin" }, { ...linux, prefersOther: true })).toEqual({
      PATH: "/opt/bin:/bin",
    });
  });

  test("keeps the order of a PATH that has all folders of the other, and keeps values that are set", () => {
    const own = { PATH: "/venv/bin:/bin:/opt/bin", HTTPS_PROXY: "http://mine" };
    const other = { PATH: "/opt/bin:/bin", HTTPS_PROXY: "http://theirs" };
    expect(enrichment(own, other, { ...linux, prefersOther: true })).toEqual({});
  });

  test("sets variables that are empty or not set", () => {
    expect(enrichment({ PATH: "/bin", http_proxy: "" }, { http_proxy: "p", UV_INDEX_URL: "u" }, linux)).toEqual({
      http_proxy: "p",
      UV_INDEX_URL: "u",
    });
  });

  test("uses the variable name and the delimiter of Windows", () => {
    expect(enrichment({ Path: "C:\\a" }, { PATH: "C:\\b;C:\\a" }, { platform: "win32" })).toEqual({
      Path: "C:\\a;C:\\b",
    });
  });

  test("loses no folder and no variable in any order of the clients", () => {
    const folder = fc.constantFrom("/a", "/b", "/c", "/d");
    const environment = fc.record(
      { PATH: fc.array(folder, { minLength: 1 }).map((all) => all.join(":")), http_proxy: fc.constantFrom("p", "q") },
      { requiredKeys: ["PATH"] },
    );
    fc.assert(
      fc.property(fc.array(environment, { minLength: 1, maxLength: 6 }), fc.boolean(), (clients, prefersOther) => {
        let hub: Record<string, string> = {};
        for (const client of clients) {
          const before = hub;
          hub = { ...hub, ...enrichment(hub, client, { ...linux, prefersOther }) };
          for (const one of [before, client])
            for (const path of (one["PATH"] ?? "").split(":").filter(Boolean))
              expect(hub["PATH"]!.split(":")).toContain(path);
          if (before["http_proxy"] !== undefined) expect(hub["http_proxy"]).toBe(before["http_proxy"]);
        }
        expect(enrichment(hub, clients[0]!, { ...linux, prefersOther })).toEqual({});
      }),
    );
  });
});

test("lists the folders of the user, of this Node and of package managers, but not those of npx", async () => {
  const home = await mkdtemp(join(tmpdir(), "toolyard-path-"));
  const folders = [".volta/bin", ".asdf/shims", ".local/bin", ".nvm/versions/node/v9.1.0/bin"];
  for (const folder of [...folders, ".nvm/versions/node/v20.3.0/bin"])
    await mkdir(join(home, folder), { recursive: true });
  const variables = { PATH: `/home/ada/.npm/_npx/1/node_modules/.bin:/mine:relative:/usr/lib/node-gyp-bin:/bin` };
  const path = usablePath({ home, platform: "linux", variables, nodeFolder: "/node/bin" }).split(":");
  expect(path.slice(0, 3)).toEqual(["/mine", "/bin", "/node/bin"]);
  expect(path).toEqual(
    expect.arrayContaining([".volta/bin", ".asdf/shims", ".local/bin"].map((one) => join(home, one))),
  );
  expect(path).toContain(join(home, ".nvm/versions/node/v20.3.0/bin"));
  expect(path.join(":")).not.toMatch(/_npx|node-gyp|relative|v9\.1\.0|\.bun/);
  await rm(home, { recursive: true });
});

test("returns the PATH that the system gives a desktop client", () => {
  expect(desktopPath("darwin", { PATH: "/opt/homebrew/bin" })).toBe("/usr/bin:/bin:/usr/sbin:/sbin");
  expect(desktopPath("linux", { PATH: "/mine" })).toBe("/usr/local/bin:/usr/bin:/bin");
  expect(desktopPath("win32", { Path: "C:\\a" })).toBe("C:\\a");
});
