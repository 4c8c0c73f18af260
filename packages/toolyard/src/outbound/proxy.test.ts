import { expect, test } from "vitest";
import { resolveProxy } from "./proxy.ts";

const environment = {
  HTTP_PROXY: "http://plain:1",
  HTTPS_PROXY: "secure:2",
  NO_PROXY: "internal.test, .corp.test,*.lab.test host.test:8080",
};

function proxyFor(url: string, configured?: string, env: Record<string, string> = environment): string | undefined {
  return resolveProxy(new URL(url), configured, env);
}

test("reads a proxy for each scheme from the environment", () => {
  expect(proxyFor("http://tools.test/")).toBe("http://plain:1");
  expect(proxyFor("https://tools.test/")).toBe("http://secure:2");
});

test.each([
  "http://internal.test/",
  "http://a.internal.test/",
  "http://x.corp.test/",
  "https://x.lab.test/",
  "http://host.test:8080/",
])("NO_PROXY exempts %s", (url) => {
  expect(proxyFor(url)).toBeUndefined();
});

test.each(["http://notinternal.test/", "http://host.test/", "http://internal.test.evil.test/"])(
  "NO_PROXY does not exempt %s",
  (url) => {
    expect(proxyFor(url)).toBe("http://plain:1");
  },
);

test("NO_PROXY of * exempts everything", () => {
  expect(proxyFor("http://tools.test/", undefined, { ...environment, NO_PROXY: "*" })).toBeUndefined();
});

test("prefers lower-case variables to upper-case ones, and uses ALL_PROXY if the scheme has no variable", () => {
  expect(
    proxyFor("http://tools.test/", undefined, { HTTP_PROXY: "http://upper:1", http_proxy: "http://lower:1" }),
  ).toBe("http://lower:1");
  expect(proxyFor("https://tools.test/", undefined, { ALL_PROXY: "http://all:1" })).toBe("http://all:1");
});

test.each(["http://localhost:1/", "http://127.0.0.1:1/", "http://[::1]:1/"])(
  "connects to %s directly, whatever the environment contains",
  (url) => {
    expect(proxyFor(url)).toBeUndefined();
  },
);

test("prefers a configured proxy to the environment; `none` uses no proxy", () => {
  expect(proxyFor("http://localhost:1/", "proxy.test:3128")).toBe("http://proxy.test:3128");
  expect(proxyFor("https://tools.test/", "none")).toBeUndefined();
});

test("rejects a value that is not an HTTP proxy, naming the variable but not the value", () => {
  expect(() => proxyFor("http://tools.test/", "socks5://user:s3cret@proxy.test")).toThrow(/`proxy` is not the address/);
  expect(() => proxyFor("http://tools.test/", undefined, { ALL_PROXY: "ftp://user:s3cret@x" })).toThrow(
    /^`ALL_PROXY` is not(?!.*s3cret)/,
  );
});
