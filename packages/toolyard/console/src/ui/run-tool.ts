import type { RunResult } from "../../../src/features/console/api-types.ts";
import { API, errorOf, keyHeaders, readEvents, request } from "../api.ts";

export interface RunNotice {
  readonly kind: "progress" | "log";
  readonly data: Readonly<Record<string, unknown>>;
}

/** Sends a call and reports its progress. Rejects with an `ApiError`. */
export async function runTool(
  path: string,
  args: unknown,
  { signal, onNotice }: { readonly signal: AbortSignal; readonly onNotice: (notice: RunNotice) => void },
): Promise<RunResult> {
  const response = await request(path, {
    method: "POST",
    body: JSON.stringify(args),
    signal,
    headers: { ...keyHeaders(), "content-type": "application/json", accept: "text/event-stream, application/json" },
  });
  if (!response.headers.get("content-type")?.startsWith("text/event-stream"))
    throw errorOf(response.status, await response.json().catch(() => undefined));
  for await (const { event, data } of readEvents(response)) {
    if (event === "result") return data as RunResult;
    if (event === "error") throw errorOf(response.status, data);
    onNotice({ kind: event === "progress" ? "progress" : "log", data: data as RunNotice["data"] });
  }
  throw errorOf(0, { error: { kind: "unavailable", message: "The hub ended the connection." } });
}

/** Returns the same call in the forms that other programs use. */
export function callForms(name: string, args: unknown): readonly (readonly [form: string, text: string])[] {
  const json = JSON.stringify(args);
  const rest = new URL(`../tools/${encodeURIComponent(name)}`, API).href;
  const quoted = `'${json.replaceAll("'", `'\\''`)}'`;
  return [
    ["CLI", `toolyard call ${/^[\w.-]+$/.test(name) ? name : JSON.stringify(name)} ${quoted}`],
    [
      "curl",
      `curl ${rest} -H 'content-type: application/json' -H "authorization: Bearer $TOOLYARD_TOKEN" -d ${quoted}`,
    ],
    [
      "TypeScript",
      `import { createHub } from "toolyard";\n\nawait using hub = await createHub();\n` +
        `console.log(await hub.call(${JSON.stringify(name)}, ${JSON.stringify(args, null, 2)}));\n`,
    ],
    [
      "Python",
      `import json, os, urllib.request\n\nrequest = urllib.request.Request(\n    ${JSON.stringify(rest)},\n` +
        `    data=json.dumps(json.loads(${JSON.stringify(json)})).encode(),\n    headers={"content-type": ` +
        `"application/json", "authorization": f"Bearer {os.environ.get('TOOLYARD_TOKEN', '')}"},\n)\n` +
        `print(json.load(urllib.request.urlopen(request)))\n`,
    ],
  ];
}
