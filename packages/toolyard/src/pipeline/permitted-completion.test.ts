import { describe, expect, test } from "vitest";
import { callTo } from "../../../../test/support/pipeline.ts";
import type { JsonObject } from "../core/json/json.ts";
import { ok } from "../core/calls/outcome.ts";
import type { NarrowRights } from "../core/ports/permission.ts";
import { permissionOf } from "../core/ports/rights.ts";
import { permittedCompletion, refusedCompletion } from "./permitted-completion.ts";

interface CompletionCase {
  readonly template?: string;
  readonly argument: string;
  readonly rights: NarrowRights;
  readonly context?: JsonObject;
}

const SOURCE = { id: "s", kind: "stdio", namespace: "s", order: 0 } as const;

function parts({ template, argument, rights, context }: CompletionCase) {
  const call = callTo(
    "t",
    {},
    { params: { argument: { name: argument, value: "" }, context: { arguments: context } } },
  );
  const record = template === undefined ? undefined : { source: SOURCE, uriTemplate: template, definition: {} };
  const own = template ?? "file:///a/vault/x";
  const facts = {
    target: { type: "completion", ref: {}, ...(record && { template: record }) },
    subject: { type: "uri", shown: own, own, prefix: "s+" },
    permission: permissionOf(rights),
  } as const;
  return { call, facts };
}

function kept(completed: CompletionCase, values: readonly unknown[]): unknown {
  const { call, facts } = parts(completed);
  const outcome = permittedCompletion(ok({ completion: { values, total: values.length, hasMore: true } }), call, facts);
  return outcome.ok && outcome.result["completion"];
}

describe("value of a completion", () => {
  const rows: readonly (readonly [string, CompletionCase, readonly string[], readonly string[]])[] = [
    [
      "is dropped if its URI is denied",
      { template: "file:///{+path}", argument: "path", rights: { deny: ["file:///a/vault/*"] } },
      ["a/vault/x", "a/public/x", "a/vault/", "a/public/../vault/x"],
      ["a/public/x"],
    ],
    [
      "is dropped if a pattern without a scheme denies its URI",
      { template: "notes://{id}", argument: "id", rights: { deny: ["*secret*"] } },
      ["plans", "secret-plans", "top-secret"],
      ["plans"],
    ],
    [
      "is dropped if no pattern allows its URI",
      { template: "notes://{id}", argument: "id", rights: { allow: ["notes://p*"] } },
      ["plans", "salaries"],
      ["plans"],
    ],
    [
      "is judged with the values of the other arguments",
      {
        template: "file:///{dir}/{name}",
        argument: "name",
        rights: { deny: ["file:///vault/g*"] },
        context: { dir: "vault" },
      },
      ["gold", "silver"],
      ["silver"],
    ],
    [
      "is dropped if it ends the path before the part that is allowed",
      { template: "https://{host}/docs", argument: "host", rights: { deny: ["https://admin.internal/*"] } },
      ["admin.internal", "admin.internal.", "ADMIN.internal", "docs.internal"],
      ["docs.internal"],
    ],
    [
      "is dropped if no template says where it leads",
      { argument: "path", rights: { deny: ["file:///b/*"] } },
      ["x"],
      [],
    ],
  ];
  for (const [title, completed, values, left] of rows) {
    test(`S15: ${title}`, () => {
      expect(kept(completed, [...values, 7])).toEqual({ values: left });
    });
  }

  test("S15: is kept with its counts if the caller may read every resource that it leads to", () => {
    const completed: CompletionCase = {
      template: "notes://{id}",
      argument: "id",
      rights: { deny: ["notes://secret"] },
    };
    expect(kept(completed, ["a", "b"])).toEqual({ values: ["a", "b"], total: 2, hasMore: true });
  });
});

describe("completion of an argument of a resource template", () => {
  const rights = { deny: ["file:///a/vault/*"] };
  test.each(["other", "", "Path", "+path", "path*", "__proto__", "constructor"])(
    "S15: is refused if the template does not have the argument: `%s`",
    (argument) => {
      const { call, facts } = parts({ template: "file:///{+path}", argument, rights });
      expect(refusedCompletion(call, facts)).toMatchObject({
        kind: "invalid_params",
        message: expect.stringContaining("It has: path."),
      });
    },
  );

  test.each([
    ["file:///{+path}", "path"],
    ["x://{?a,b}", "b"],
    ["x://{list*}", "list"],
  ])("S15: is served if %s has it: `%s`", (template, argument) => {
    const { call, facts } = parts({ template, argument, rights });
    expect(refusedCompletion(call, facts)).toBeUndefined();
  });
});
