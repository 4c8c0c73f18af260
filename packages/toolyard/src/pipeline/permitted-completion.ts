import type { Call } from "../core/calls/call.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../core/json/json.ts";
import { fail, type Fail, type Outcome } from "../core/calls/outcome.ts";
import type { CallTarget } from "../core/sources/provider.ts";
import type { Permission, UriSubject } from "../core/ports/permission.ts";
import { withUriPrefix } from "../core/uris/uri-prefix.ts";
import { UriTemplate } from "../core/uris/uri-template.ts";
import { firstChars } from "../core/text/truncate.ts";

type FilteredCompletion = Extract<CallTarget, { type: "completion" }>;

/** Value that is used for an unknown variable of a template. */
const ANY_VALUE = "x";

/**
 * Removes the values of a completion that would lead to URIs which the caller may not use, and values whose URI is
 * unknown.
 */
export function permittedCompletion(outcome: Outcome, call: Call, facts: CompletionFacts): Outcome {
  const completion = outcome.ok ? objectMember(outcome.result, "completion") : undefined;
  const values = completion?.["values"];
  if (!outcome.ok || !completion || !Array.isArray(values)) return outcome;
  const leads = leadsOf(call, facts);
  const kept = values.filter((value) => typeof value === "string" && leads(value));
  if (kept.length === values.length) return outcome;
  const { total: _total, hasMore: _more, ...rest } = completion;
  return { ...outcome, result: { ...outcome.result, completion: { ...rest, values: kept } } };
}

/**
 * Refuses a completion for an argument that the template does not have. Its values lead to no URI, so rights cannot be
 * checked.
 */
export function refusedCompletion({ params }: Call, { target, subject }: CompletionFacts): Fail | undefined {
  if (!target.template) return undefined;
  const { names } = new UriTemplate(target.template.uriTemplate);
  const name = argumentName(params);
  if (name !== undefined && names.includes(name)) return undefined;
  const known = names.length > 0 ? `It has: ${names.join(", ")}.` : "It has none.";
  const given = name === undefined ? "undefined" : `\`${firstChars(name, MAX_SHOWN_CHARS)}\``;
  return fail("invalid_params", `The template ${subject.shown} has no argument ${given}. ${known}`);
}

const MAX_SHOWN_CHARS = 100;

function argumentName(params: JsonObject): string | undefined {
  return stringMember(objectMember(params, "argument") ?? {}, "name");
}

interface CompletionFacts {
  readonly target: FilteredCompletion;
  /** Template or URI whose argument is completed. */
  readonly subject: UriSubject;
  readonly permission: Permission;
}

/** Returns a function that decides whether a value leads to a URI that the caller may use. */
function leadsOf({ params }: Call, { target, subject, permission }: CompletionFacts): (value: string) => boolean {
  const name = argumentName(params);
  if (!target.template || name === undefined) return () => false;
  const template = new UriTemplate(target.template.uriTemplate);
  const given = textsIn(objectMember(objectMember(params, "context") ?? {}, "arguments") ?? {});
  const others = Object.fromEntries(template.names.map((one) => [one, given[one] ?? ANY_VALUE]));
  const isPrefixed = subject.shown !== subject.own;
  return (value) => {
    const own = template.expand({ ...others, [name]: value });
    const shown = isPrefixed ? withUriPrefix(subject.prefix, own) : own;
    return permission.permits({ ...subject, isTemplate: false, shown, own });
  };
}

function textsIn(values: JsonObject): Readonly<Record<string, string>> {
  if (!isJsonObject(values)) return {};
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
