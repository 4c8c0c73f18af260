import type { Call } from "../core/call.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../core/json.ts";
import type { Outcome } from "../core/outcome.ts";
import type { CallTarget } from "../core/provider.ts";
import type { Permission, UriSubject } from "../core/rights.ts";
import { UriTemplate } from "../core/uri-template.ts";

type CompletionTarget = Extract<CallTarget, { type: "completion" }>;

/** What stands where a template's value is not known yet. */
const ANY_VALUE = "x";

/**
 * Takes those values out of an answer to a completion that would lead to URIs which the caller may not use. A value
 * whose URI cannot be told leads nowhere.
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

interface CompletionFacts {
  readonly target: CompletionTarget;
  /** Of the template or the URI that is completed. */
  readonly subject: UriSubject;
  readonly permission: Permission;
}

/** Whether a value leads to where the caller may go. */
function leadsOf({ params }: Call, { target, subject, permission }: CompletionFacts): (value: string) => boolean {
  const name = stringMember(objectMember(params, "argument") ?? {}, "name");
  if (!target.template || name === undefined) return () => false;
  const template = new UriTemplate(target.template.uriTemplate);
  const given = textsIn(objectMember(objectMember(params, "context") ?? {}, "arguments") ?? {});
  const others = Object.fromEntries(template.names.map((one) => [one, given[one] ?? ANY_VALUE]));
  const isPrefixed = subject.shown !== subject.own;
  return (value) => {
    const own = template.expand({ ...others, [name]: value });
    const shown = isPrefixed ? `${subject.prefix}${own}` : own;
    return permission.permits({ type: "uri", shown, own, prefix: subject.prefix });
  };
}

function textsIn(values: JsonObject): Readonly<Record<string, string>> {
  if (!isJsonObject(values)) return {};
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
