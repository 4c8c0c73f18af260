import { expect, test } from "vitest";
import { readChallenge } from "./challenge.ts";

test.each<[string, object]>([
  ['Bearer resource_metadata="https://a.example/m", scope="a b"', { metadata: "https://a.example/m", scope: "a b" }],
  ["bearer scope=a,error=insufficient_scope", { scope: "a", error: "insufficient_scope" }],
  ['Basic realm="x, Bearer scope=\\"no\\"", Bearer scope="yes"', { scope: "yes" }],
  ['Negotiate, DPoP algs="ES256", error="use_dpop_nonce"', { error: "use_dpop_nonce" }],
  ['Bearer scope="first", scope="second"', { scope: "first" }],
])("reads the challenge %s", (header, expected) => {
  expect(readChallenge(401, header)).toEqual({ status: 401, ...expected });
});

test.each([
  undefined,
  "",
  'Basic realm="x", scope="a"',
  'Bearer resource_metadata="not an address"',
  'Bearer scope="a\u0001b"',
  `Bearer ${" ".repeat(9000)}scope="late"`,
])("ignores a challenge of another kind: %s", (header) => {
  expect(readChallenge(403, header)).toEqual({ status: 403 });
});
