import { expect, test } from "vitest";
import { installFailure } from "./install-advice.ts";

const NPM = `npm error code E404
npm error 404 Not Found - GET http://localhost/none
npm error 404
npm error 404 The requested resource 'none@*' could not be found
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/ada/.npm/_logs/0.log`;

test("reports each fact of npm's answer about an unknown name once, without npm's prefix", () => {
  const result = { ok: false, at: 0, lines: NPM.split("\n") };
  const words = { command: "npx", args: ["none"] };
  const { message } = installFailure(result, words, { what: "npx none", maxMs: 1000 });
  expect(message).toBe(
    "`npx none` could not be downloaded. Its output: E404 Not Found - GET http://localhost/none The " +
      "requested resource 'none@*' could not be found. There is no such package, or it is private: " +
      "correct its name in the configuration.",
  );
});

test.each([
  ["npm error code SELF_SIGNED_CERT_IN_CHAIN", "certificate"],
  ["npm error request to https://npm.example failed, reason: unable to get local issuer certificate", "certificate"],
  ["npm error code UNABLE_TO_VERIFY_LEAF_SIGNATURE", "certificate"],
  ["npm error code CERT_HAS_EXPIRED", "certificate"],
  ["npm error code ERR_TLS_CERT_ALTNAME_INVALID", "certificate"],
  ["error: error sending request for url: invalid peer certificate: UnknownIssuer", "certificate"],
  ["SSLError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate", "certificate"],
  ["npm error code ENOTFOUND registry.npmjs.org", "network"],
  ["error: error sending request for url: dns error: failed to lookup address", "network"],
  ["npm error code E404", "package"],
  ["npm error code E401 Unable to authenticate", "login"],
])("explains `%s` as %s", (line, cause) => {
  const { message } = installFailure(
    { ok: false, at: 0, lines: [line] },
    { command: "npx", args: ["a"] },
    {
      what: "npx a",
      maxMs: 1000,
    },
  );
  const causes: Readonly<Record<string, RegExp>> = {
    certificate: /is not trusted\. Name the PEM file of its CA: `NODE_EXTRA_CA_CERTS`/,
    network: /The registry cannot be reached/,
    package: /There is no such package/,
    login: /The registry \w+ a login/,
  };
  for (const [name, text] of Object.entries(causes)) expect([name, text.test(message)]).toEqual([name, name === cause]);
});
