import { useState } from "preact/hooks";
import type { PromptRow, RunResult } from "../../../src/features/console/api-types.ts";
import { ApiError, call } from "../api.ts";
import { formatMs, t } from "../i18n/texts.ts";
import { href, route } from "../route.ts";
import { CompletedField } from "../ui/completed-field.tsx";
import { Commands, Foreign, Name, Outcome, Pending, SearchField } from "../ui/parts.tsx";
import { Result } from "../ui/result.tsx";
import { toSchema } from "../ui/schema-form.tsx";
import { useData } from "../ui/use-data.ts";
import { VirtualList } from "../ui/virtual-list.tsx";

const ROW_HEIGHT = 60;

export function Prompts() {
  const { data, error, reload } = useData<{ readonly prompts: readonly PromptRow[] }>("prompts", "lists");
  const [words, setWords] = useState("");
  if (!data) return <Pending error={error} retry={reload} />;
  const chosen = route.value[1];
  const wanted = words.trim().toLowerCase();
  const rows = data.prompts.filter(({ name, title = "", description = "" }) =>
    `${name} ${title} ${description}`.toLowerCase().includes(wanted),
  );
  const found = data.prompts.find(({ name }) => name === chosen);
  return (
    <>
      <SearchField class="search-field" label={t("filter")} words={words} onWords={setWords} />
      <p class="dim" role="status">
        {t("promptCount", { count: data.prompts.length })}
      </p>
      <div class="split tools">
        {rows.length === 0 ? (
          <p>{t("nothingYet")}</p>
        ) : (
          <VirtualList
            count={rows.length}
            rowHeight={ROW_HEIGHT}
            label={t("prompts")}
            row={(index) => <Row prompt={rows[index]!} isChosen={rows[index] === found} />}
          />
        )}
        {found ? <Detail key={found.name} prompt={found} /> : <p class="dim">{t("selectPrompt")}</p>}
      </div>
      <Commands lines={[`toolyard prompt ${found ? found.name : "NAME"} ARGUMENT=VALUE`, "toolyard list"]} />
    </>
  );
}

function Row({ prompt, isChosen }: { readonly prompt: PromptRow; readonly isChosen: boolean }) {
  const { name, title, description = "" } = prompt;
  return (
    <a class="tool-row" href={href("prompts", name)} {...(isChosen && { "aria-current": "true" as const })}>
      <Name class="tool-name" text={title ?? name} />
      <small class="dim">
        <Name text={description} />
      </small>
    </a>
  );
}

function Detail({ prompt }: { readonly prompt: PromptRow }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [answer, setAnswer] = useState<{ readonly data?: RunResult; readonly error?: ApiError }>({});
  const fill = async (event: Event): Promise<void> => {
    event.preventDefault();
    const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
    try {
      setAnswer({ data: await call<RunResult>("POST", `prompts/${encodeURIComponent(prompt.name)}`, { body }) });
    } catch (error) {
      if (error instanceof ApiError) setAnswer({ error });
    }
  };
  const { data, error } = answer;
  return (
    <form class="card detail" aria-label={prompt.name} onSubmit={(event) => void fill(event)}>
      <h2>
        <Name text={prompt.title ?? prompt.name} />
      </h2>
      <p class="description" tabindex={0}>
        <Foreign text={prompt.description ?? ""} />
      </p>
      {prompt.arguments.map(({ name, description, isRequired }) => (
        <CompletedField
          key={name}
          name={name}
          hint={description}
          isRequired={isRequired}
          value={values[name] ?? ""}
          onChange={(value) => setValues({ ...values, [name]: value })}
          reference={{ type: "ref/prompt", name: prompt.name }}
          others={Object.fromEntries(Object.entries(values).filter(([other]) => other !== name))}
        />
      ))}
      <p class="actions">
        <button class="main">{t("fillIn")}</button>
      </p>
      <div aria-live="polite">
        {error && (
          <div class="notice" role="alert">
            <Outcome outcome={error.kind} /> <Foreign text={error.message} />
          </div>
        )}
        {data && <Messages result={data} />}
      </div>
    </form>
  );
}

function Messages({ result: { result, durationMs } }: { readonly result: RunResult }) {
  const messages = Array.isArray(result["messages"]) ? (result["messages"] as readonly unknown[]).map(toSchema) : [];
  return (
    <>
      <p class="dim">{formatMs(durationMs)}</p>
      {messages.map(({ role, content }, at) => (
        <section key={at} class="message" aria-label={String(role)}>
          <h3>
            <Name text={String(role)} />
          </h3>
          <Result result={{ content: [content] }} />
        </section>
      ))}
    </>
  );
}
