import { useEffect, useRef, useState } from "preact/hooks";
import type { RunResult, ToolDetail, ToolList, ToolRow } from "../../../src/features/console/api-types.ts";
import type { NewTask, TaskDetail } from "../../../src/features/console/task-types.ts";
import { ApiError, call, get } from "../api.ts";
import { formatBytes, formatMs, formatNumber, t } from "../i18n/texts.ts";
import { changes } from "../live.ts";
import { go, href, route } from "../route.ts";
import { Commands, CopyButton, Foreign, Json, Name, Outcome, Pending, SearchField } from "../ui/parts.tsx";
import { hasApp, LateApp } from "../ui/late-app.tsx";
import { replayed } from "../ui/replayed.ts";
import { Result } from "../ui/result.tsx";
import { callForms, runTool, type RunNotice } from "../ui/run-tool.ts";
import { Field, startValue, toSchema } from "../ui/schema-form.tsx";
import { useData } from "../ui/use-data.ts";
import { VirtualList } from "../ui/virtual-list.tsx";

const PAGE = 200;
const ROW_HEIGHT = 60;

export function Tools() {
  const [words, setWords] = useState("");
  const { rows, total, near, error, onRange, isLoading } = usePages(words);
  const chosen = route.value[1];
  return (
    <>
      <SearchField class="search-field" label={t("searchTools")} words={words} onWords={setWords} />
      <p class="dim" role="status">
        {words.trim() === ""
          ? t("toolCount", { count: total })
          : `${t("hitCount", { count: total })} · ${t("searchHint")}`}
      </p>
      {error && <Pending error={error} retry={async () => setWords(words)} />}
      <div class="split tools">
        <div>
          {total === 0 && !isLoading && (
            <p>
              {t("noTool")} {near.length > 0 && t("nearest", { names: near.join(", ") })}
            </p>
          )}
          <VirtualList
            count={total}
            rowHeight={ROW_HEIGHT}
            label={t("tools")}
            onRange={onRange}
            row={(index) => <Row tool={rows.get(index)} chosen={chosen} />}
          />
        </div>
        {chosen === undefined ? <p class="dim">{t("selectTool")}</p> : <Detail key={chosen} name={chosen} />}
      </div>
      <Commands
        lines={[`toolyard search ${words.trim() === "" ? "WORDS" : JSON.stringify(words)} --why`, "toolyard list"]}
      />
    </>
  );
}

function Row({ tool, chosen }: { readonly tool: ToolRow | undefined; readonly chosen: string | undefined }) {
  if (!tool) return <span class="dim">…</span>;
  const { name, description, why, score } = tool;
  return (
    <a class="tool-row" href={href("tools", name)} {...(name === chosen && { "aria-current": "true" as const })}>
      <Name class="tool-name" text={name} />
      {why ? (
        <small class="dim">
          {formatNumber(score ?? 0, 2)} ·{" "}
          {t("why", {
            words: formatNumber(why.words, 2),
            meaning: formatNumber(why.meaning, 2),
            neighbours: formatNumber(why.neighbours, 2),
            server: formatNumber(why.server, 2),
          })}
        </small>
      ) : (
        <small class="dim">
          <Name text={description} />
        </small>
      )}
    </a>
  );
}

/** Reads the pages of the list that are visible, or the hits of a search. */
function usePages(words: string) {
  const [state, setState] = useState({ rows: new Map<number, ToolRow>(), total: 0, near: [] as readonly string[] });
  const [error, setError] = useState<ApiError>();
  const [isLoading, setLoading] = useState(true);
  const asked = useRef(new Set<number>());
  const version = changes.value.lists;
  const query = words.trim();
  const load = async (page: number, signal?: AbortSignal): Promise<void> => {
    if (asked.current.has(page)) return;
    asked.current.add(page);
    try {
      const search = query === "" ? "" : `&query=${encodeURIComponent(query)}`;
      const list = await get<ToolList>(`tools?offset=${page * PAGE}&limit=${PAGE}${search}`, signal);
      setState(({ rows }) => {
        const next = new Map(page === 0 ? [] : rows);
        list.tools.forEach((tool, at) => next.set(list.offset + at, tool));
        return { rows: next, total: query === "" ? list.total : list.tools.length, near: list.near ?? [] };
      });
      setError(undefined);
    } catch (failure) {
      asked.current.delete(page);
      if (failure instanceof ApiError) setError(failure);
    }
    setLoading(false);
  };
  useEffect(() => {
    const aborter = new AbortController();
    asked.current = new Set();
    setLoading(true);
    const timer = setTimeout(() => void load(0, aborter.signal), query === "" ? 0 : 150);
    return () => {
      clearTimeout(timer);
      aborter.abort();
    };
  }, [query, version]);
  const onRange = (first: number, last: number): void => {
    if (query !== "" || state.total === 0) return;
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page += 1) void load(page);
  };
  return { ...state, error, isLoading, onRange };
}

function Detail({ name }: { readonly name: string }) {
  const { data, error, reload } = useData<ToolDetail>(`tools/${encodeURIComponent(name)}`, "lists");
  if (!data) return <Pending error={error} retry={reload} />;
  const { definition, source, calls } = data;
  return (
    <section class="card detail" aria-label={name}>
      <h2>
        <Name text={data.name} />
      </h2>
      <p class="dim">
        {source !== undefined && (
          <a href={href("sources", source)}>
            <Name text={source} />
          </a>
        )}{" "}
        {calls.calls > 0 && `${formatNumber(calls.calls)} ${t("calls")} · p50 ${formatMs(calls.p50)}`}
      </p>
      <p class="description" tabindex={0}>
        <Foreign text={String(definition["description"] ?? "")} />
      </p>
      <Runner tool={data} />
      <details>
        <summary>{t("schema")}</summary>
        <Json value={definition["inputSchema"]} />
      </details>
      {definition["outputSchema"] !== undefined && (
        <details>
          <summary>{t("outputSchema")}</summary>
          <Json value={definition["outputSchema"]} />
        </details>
      )}
    </section>
  );
}

interface Run {
  readonly isRunning: boolean;
  readonly notices: readonly RunNotice[];
  readonly result?: RunResult;
  readonly error?: ApiError;
  /** Arguments of the finished run. */
  readonly args?: unknown;
}

const MAX_NOTICES = 100;

/** Returns the arguments of the stored call that the user has opened, once. */
function replayedArgs({ name }: ToolDetail): unknown {
  const { tool, args } = replayed.value ?? {};
  if (tool !== name) return undefined;
  replayed.value = undefined;
  return args;
}

function Runner({ tool }: { readonly tool: ToolDetail }) {
  const schema = toSchema(tool.definition["inputSchema"]);
  const [args, setArgs] = useState<unknown>(
    () => replayedArgs(tool) ?? startValue({ type: "object", ...schema }, schema) ?? {},
  );
  const [run, setRun] = useState<Run>({ isRunning: false, notices: [] });
  const aborter = useRef<AbortController>(undefined);
  useEffect(() => () => aborter.current?.abort(), []);
  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    const own = (aborter.current = new AbortController());
    setRun({ isRunning: true, notices: [] });
    const onNotice = (notice: RunNotice): void =>
      setRun((before) => ({ ...before, notices: [...before.notices, notice].slice(-MAX_NOTICES) }));
    try {
      const result = await runTool(`tools/${encodeURIComponent(tool.name)}`, args, { signal: own.signal, onNotice });
      setRun((before) => ({ ...before, isRunning: false, result, args }));
    } catch (failure) {
      const error =
        failure instanceof ApiError ? failure : new ApiError(0, { kind: "cancelled", message: t("cancel") });
      setRun((before) => ({ ...before, isRunning: false, error }));
    }
  };
  const startTask = async (): Promise<void> => {
    try {
      const body: NewTask = { tool: tool.name, arguments: toSchema(args) };
      go("tasks", (await call<TaskDetail>("POST", "tasks", { body })).id);
    } catch (failure) {
      if (failure instanceof ApiError) setRun({ isRunning: false, notices: [], error: failure });
    }
  };
  return (
    <form onSubmit={(event) => void start(event)} aria-label={t("run")}>
      {Object.keys(toSchema(schema["properties"])).length === 0 && schema["additionalProperties"] === undefined ? (
        <p class="dim">{t("noParameters")}</p>
      ) : (
        <Field
          label={t("parameters")}
          schema={{ type: "object", ...schema, title: undefined, description: undefined }}
          root={schema}
          value={args}
          onChange={setArgs}
        />
      )}
      <p class="actions">
        <button class="main" disabled={run.isRunning}>
          {t(run.isRunning ? "running" : "run")}
        </button>
        {run.isRunning && (
          <button type="button" onClick={() => aborter.current?.abort()}>
            {t("stop")}
          </button>
        )}
        <button type="button" disabled={run.isRunning} onClick={() => void startTask()}>
          {t("runAsTask")}
        </button>
        {callForms(tool.name, args).map(([form, text]) => (
          <CopyButton key={form} text={text} label={t("copyAs", { form })} />
        ))}
      </p>
      <Answer run={run} />
      <RunApp tool={tool} run={run} />
    </form>
  );
}

/** Shows the page of a tool with the result of the run. Another run opens the page again. */
function RunApp({ tool, run: { result, args } }: { readonly tool: ToolDetail; readonly run: Run }) {
  const number = useRef({ result, count: 0 });
  if (number.current.result !== result) number.current = { result, count: number.current.count + 1 };
  if (!result || !hasApp(tool)) return null;
  return <LateApp key={number.current.count} tool={tool} args={args} result={Promise.resolve(result.result)} />;
}

function Answer({ run: { notices, result, error, isRunning } }: { readonly run: Run }) {
  const progress = notices.findLast(({ kind }) => kind === "progress")?.data;
  const logs = notices.filter(({ kind }) => kind === "log");
  return (
    <div aria-live="polite">
      {isRunning && progress && (
        <p>
          <progress
            {...(typeof progress["progress"] === "number" && { value: progress["progress"] })}
            max={typeof progress["total"] === "number" ? progress["total"] : 1}
          />{" "}
          <Name text={String(progress["message"] ?? "")} />
        </p>
      )}
      {logs.length > 0 && (
        <pre tabindex={0}>
          {logs.map(({ data }, at) => (
            <div key={at}>
              <Foreign text={`${String(data["level"])} ${JSON.stringify(data["data"])}`} />
            </div>
          ))}
        </pre>
      )}
      {error && (
        <div class="notice" role="alert">
          <Outcome outcome={error.kind} /> <Foreign text={error.message} />
        </div>
      )}
      {result && (
        <>
          <h3>{t("result")}</h3>
          <p class="dim">
            {t("duration", {
              time: formatMs(result.durationMs),
              size: formatBytes(JSON.stringify(result.result).length),
            })}
          </p>
          <Result result={result.result} />
        </>
      )}
    </div>
  );
}
