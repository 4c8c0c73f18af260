import { useEffect, useState } from "preact/hooks";
import type { ResourceList, ResourceRow, RunResult, TemplateRow } from "../../../src/features/console/api-types.ts";
import { ApiError, call, keyHeaders, readEvents, request } from "../api.ts";
import { formatBytes, formatMs, formatTime, t } from "../i18n/texts.ts";
import { href, go, route } from "../route.ts";
import { CompletedField } from "../ui/completed-field.tsx";
import { Commands, Foreign, Name, Outcome, Pending, SearchField } from "../ui/parts.tsx";
import { Result } from "../ui/result.tsx";
import { expand, variablesOf } from "../ui/uri-template.ts";
import { useData } from "../ui/use-data.ts";
import { VirtualList } from "../ui/virtual-list.tsx";

const ROW_HEIGHT = 60;
/** First part of the address of a template. No URI is equal to it. */
const TEMPLATE = "template";

export function Resources() {
  const { data, error, reload } = useData<ResourceList>("resources", "lists");
  const [words, setWords] = useState("");
  if (!data) return <Pending error={error} retry={reload} />;
  const [, chosen, template] = route.value;
  const wanted = words.trim().toLowerCase();
  const fits = ({ name, title = "", uri = "", uriTemplate = "" }: Partial<ResourceRow & TemplateRow>): boolean =>
    `${name} ${title} ${uri} ${uriTemplate}`.toLowerCase().includes(wanted);
  const rows = [
    ...data.resources.filter(fits).map((row) => ({ row, at: row.uri, to: href("resources", row.uri) })),
    ...data.templates
      .filter(fits)
      .map((row) => ({ row, at: row.uriTemplate, to: href("resources", TEMPLATE, row.uriTemplate) })),
  ];
  const found = data.templates.find(({ uriTemplate }) => chosen === TEMPLATE && uriTemplate === template);
  return (
    <>
      <SearchField class="search-field" label={t("filter")} words={words} onWords={setWords} />
      <p class="dim" role="status">
        {t("resourceCount", { count: data.resources.length, templates: data.templates.length })}
      </p>
      <div class="split tools">
        {rows.length === 0 ? (
          <p>{t("nothingYet")}</p>
        ) : (
          <VirtualList
            count={rows.length}
            rowHeight={ROW_HEIGHT}
            label={t("resources")}
            row={(index) => (
              <a
                class="tool-row"
                href={rows[index]!.to}
                {...(rows[index]!.at === (template ?? chosen) && { "aria-current": "true" as const })}
              >
                <Name class="tool-name" text={rows[index]!.row.title ?? rows[index]!.row.name} />
                <small class="dim">
                  <Name text={rows[index]!.at} />
                </small>
              </a>
            )}
          />
        )}
        {found && <Template key={found.uriTemplate} template={found} />}
        {!found && chosen === undefined && <p class="dim">{t("selectResource")}</p>}
        {!found && chosen !== undefined && chosen !== TEMPLATE && (
          <Resource key={chosen} uri={chosen} row={data.resources.find(({ uri }) => uri === chosen)} />
        )}
      </div>
      <Commands lines={[`toolyard resource ${chosen && !found ? JSON.stringify(chosen) : "URI"}`, "toolyard list"]} />
    </>
  );
}

function Template({ template: { uriTemplate, name, title, description } }: { readonly template: TemplateRow }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const uri = expand(uriTemplate, values);
  return (
    <form
      class="card detail"
      aria-label={title ?? name}
      onSubmit={(event) => {
        event.preventDefault();
        go("resources", uri);
      }}
    >
      <h2>
        <Name text={title ?? name} />
      </h2>
      <p class="description" tabindex={0}>
        <Foreign text={description ?? ""} />
      </p>
      {variablesOf(uriTemplate).map((variable) => (
        <CompletedField
          key={variable}
          name={variable}
          isRequired={false}
          value={values[variable] ?? ""}
          onChange={(value) => setValues({ ...values, [variable]: value })}
          reference={{ type: "ref/resource", uri: uriTemplate }}
          others={values}
        />
      ))}
      <p class="dim" aria-live="polite">
        <Name text={uri} />
      </p>
      <button class="main">{t("read")}</button>
    </form>
  );
}

function Resource({ uri, row }: ResourceProps) {
  const { data, error, at, read } = useResource(uri);
  const { isFollowing, setFollowing, problem } = useChanges(uri, read);
  return (
    <section class="card detail" aria-label={uri}>
      <Facts uri={uri} row={row} />
      <p class="actions">
        <button onClick={() => void read()}>{t("readAgain")}</button>
        <label>
          <input
            type="checkbox"
            checked={isFollowing}
            onChange={(event) => setFollowing(event.currentTarget.checked)}
          />{" "}
          {t("subscribe")}
        </label>
      </p>
      {problem !== "" && (
        <p class="notice" role="alert">
          <Foreign text={problem} />
        </p>
      )}
      <div aria-live="polite">
        {error && (
          <div class="notice" role="alert">
            <Outcome outcome={error.kind} /> <Foreign text={error.message} />
          </div>
        )}
        {data && at !== undefined && (
          <>
            <p class="dim">
              {t("readAt", { time: formatTime(at) })} · {formatMs(data.durationMs)}
            </p>
            <Result result={data.result} />
          </>
        )}
      </div>
    </section>
  );
}

interface ResourceProps {
  readonly uri: string;
  readonly row: ResourceRow | undefined;
}

function Facts({ uri, row }: ResourceProps) {
  return (
    <>
      <h2>
        <Name text={row?.title ?? row?.name ?? uri} />
      </h2>
      <p class="dim">
        <Name text={uri} /> {row?.mimeType !== undefined && <Name text={row.mimeType} />}{" "}
        {row?.size !== undefined && formatBytes(row.size)}
      </p>
      {row?.description !== undefined && (
        <p class="description" tabindex={0}>
          <Foreign text={row.description} />
        </p>
      )}
    </>
  );
}

/** Reads a resource when it is shown, and again at each call of `read`. */
function useResource(uri: string) {
  const [state, setState] = useState<{ readonly data?: RunResult; readonly error?: ApiError; readonly at?: string }>(
    {},
  );
  const read = async (): Promise<void> => {
    try {
      const data = await call<RunResult>("POST", "resources/read", { body: { uri } });
      setState({ data, at: new Date().toISOString() });
    } catch (error) {
      if (error instanceof ApiError) setState({ error });
    }
  };
  useEffect(() => void read(), [uri]);
  return { ...state, read };
}

/** Calls `onChanged` for each change of a resource while it is followed. */
function useChanges(uri: string, onChanged: () => Promise<void>) {
  const [isFollowing, setFollowing] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!isFollowing) return undefined;
    const aborter = new AbortController();
    setProblem("");
    follow(uri, { signal: aborter.signal, onChanged: () => void onChanged() }).catch((error: unknown) => {
      if (aborter.signal.aborted) return;
      setProblem(error instanceof Error ? error.message : String(error));
      setFollowing(false);
    });
    return () => aborter.abort();
  }, [isFollowing, uri]);
  return { isFollowing, setFollowing, problem };
}

/** Reports changes of a resource until the stream ends. Rejects with the reason why it cannot be followed. */
async function follow(
  uri: string,
  { signal, onChanged }: { readonly signal: AbortSignal; readonly onChanged: () => void },
): Promise<void> {
  const path = `events?${new URLSearchParams({ topics: "resource", uri }).toString()}`;
  const response = await request(path, { signal, headers: { ...keyHeaders(), accept: "text/event-stream" } });
  if (!response.ok) {
    const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
    throw new Error(error?.message ?? t("offline"));
  }
  for await (const { event } of readEvents(response)) if (event === "resource") onChanged();
  throw new Error(t("offline"));
}
