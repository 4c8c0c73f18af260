import { describe, expect, test } from "vitest";
import { childEnvironment, installerVariables, searchEnvironment } from "./environment.ts";

const parent = {
  PATH: "/bin",
  HOME: "/h",
  LC_ALL: "C",
  API_TOKEN: "secret",
  EXTRA: "x",
  https_proxy: "p",
  "BASH_FUNC_x%%": "() { :; }",
  LC_F: "() { :; }",
};

test("S8: passes the allow-listed variables to a child and no others", () => {
  expect(childEnvironment({}, parent, "linux")).toEqual({ PATH: "/bin", HOME: "/h", LC_ALL: "C", https_proxy: "p" });
});

test("prefers a child's own variables, and passes names in `inherit` if they are set", () => {
  expect(childEnvironment({ own: { HOME: "/mine", A: "1" }, inherit: ["EXTRA", "NOT_SET"] }, parent, "linux")).toEqual({
    PATH: "/bin",
    HOME: "/mine",
    LC_ALL: "C",
    https_proxy: "p",
    EXTRA: "x",
    A: "1",
  });
});

test("compares names without case on Windows, and never passes a variable twice", () => {
  const env = childEnvironment(
    { own: { PATH: "mine" }, inherit: ["extra"] },
    { Path: "theirs", SYSTEMROOT: "C:\\Windows", EXTRA: "x", TOKEN: "t" },
    "win32",
  );
  expect(env).toEqual({ PATH: "mine", SYSTEMROOT: "C:\\Windows", EXTRA: "x" });
});

test("returns only the variables that decide where commands are found", () => {
  expect(searchEnvironment({ PATH: "/bin", HOME: "/root", API_TOKEN: "secret" })).toEqual({ PATH: "/bin" });
  expect(searchEnvironment({})).toEqual({});
});

describe("installerVariables", () => {
  const settings = {
    npm_config_registry: "https://npm.example",
    NPM_CONFIG_CAFILE: "/ca.pem",
    "npm_config_//npm.example/:_authToken": "secret",
    npm_config_cache: "/cache",
    npm_config_noproxy: "",
    npm_config_user_agent: "npm/11",
    npm_config_package: "toolyard",
    npm_config_call: "toolyard serve",
    UV_INDEX_URL: "https://pypi.example",
    UV_CACHE_DIR: "/uv",
    UV_INDEX_OWN_PASSWORD: "secret",
    UV_PUBLISH_TOKEN: "secret",
    PIP_INDEX_URL: "https://pypi.example",
    PIP_CERT: "/ca.pem",
    DOCKER_HOST: "unix:///run/docker.sock",
    PATH: "/bin",
    API_TOKEN: "secret",
    UVICORN_PORT: "1",
  };

  test("returns settings of package managers, but no logins and no variables that npm sets for its children", () => {
    expect(installerVariables({ withLogins: false }, settings)).toEqual([
      "npm_config_registry",
      "NPM_CONFIG_CAFILE",
      "npm_config_cache",
      "UV_INDEX_URL",
      "UV_CACHE_DIR",
      "PIP_INDEX_URL",
      "PIP_CERT",
      "DOCKER_HOST",
    ]);
  });

  test("under npm, leaves out the variables that npm sets for its own children", () => {
    const names = installerVariables({ withLogins: false }, { ...settings, npm_execpath: "/npm-cli.js" });
    expect(names).not.toContain("npm_config_cache");
    expect(names).toContain("npm_config_registry");
  });

  test("adds the logins for a download, but never an upload token", () => {
    const names = installerVariables({ withLogins: true }, settings);
    expect(names).toContain("npm_config_//npm.example/:_authToken");
    expect(names).toContain("UV_INDEX_OWN_PASSWORD");
    for (const name of ["UV_PUBLISH_TOKEN", "API_TOKEN", "PATH", "npm_config_call"]) expect(names).not.toContain(name);
  });
});
