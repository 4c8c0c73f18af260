import { useEffect, useRef, useState } from "preact/hooks";
import type { RunResult } from "../../../src/features/console/api-types.ts";
import { ApiError } from "../api.ts";
import { formatMs, t } from "../i18n/texts.ts";
import { changes } from "../live.ts";
import { forgetTools, openToolEditor, type CodeLanguage } from "../ui/tool-editor.ts";
import { Failure } from "../ui/failure.tsx";
import { Commands, Foreign, Json } from "../ui/parts.tsx";
import { Result } from "../ui/result.tsx";
import { runTool } from "../ui/run-tool.ts";
import { toSchema } from "../ui/schema-form.tsx";

const LANGUAGES: readonly CodeLanguage[] = ["typescript", "javascript", "python"];
const SUFFIXES: Readonly<Record<CodeLanguage, string>> = { typescript: "ts", javascript: "js", python: "py" };
const START: Readonly<Record<CodeLanguage, string>> = {
  typescript: 'const found = await search("read a file");\nfound.map(({ signature }) => signature)\n',
  javascript: 'const found = await search("read a file");\nfound.map(({ signature }) => signature)\n',
  python: 'found = await search("read a file")\n[tool["signature"] for tool in found]\n',
};

/** The texts of this page, kept while the user looks at other views. */
const texts: Record<CodeLanguage, string> = { ...START };

interface CodeRun {
  readonly isRunning: boolean;
  readonly result?: RunResult;
  readonly error?: ApiError;
}

export function CodeView() {
  const [language, setLanguage] = useState<CodeLanguage>("typescript");
  const [inputs, setInputs] = useState("{}");
  const { run, start, stop } = useRun();
  useEffect(forgetTools, [changes.value.lists]);
  const begin = (): void => void start(language, inputs);
  return (
    <>
      <p class="dim">{t("codeHint")}</p>
      <p class="actions">
        <label>
          {t("language")}{" "}
          <select value={language} onChange={(event) => setLanguage(event.currentTarget.value as CodeLanguage)}>
            {LANGUAGES.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <button class="main" disabled={run.isRunning} onClick={begin}>
          {t(run.isRunning ? "running" : "run")} <kbd>Ctrl ⏎</kbd>
        </button>
        {run.isRunning && <button onClick={stop}>{t("stop")}</button>}
      </p>
      <Editor key={language} language={language} onRun={begin} />
      <details>
        <summary>{t("inputs")}</summary>
        <label>
          <span class="hidden">{t("inputs")}</span>
          <textarea
            class="code"
            dir="ltr"
            rows={4}
            value={inputs}
            onInput={(event) => setInputs(event.currentTarget.value)}
          />
        </label>
      </details>
      <div aria-live="polite">
        {run.error && <Failure error={run.error} />}
        <CodeOutput run={run} />
      </div>
      <Commands lines={[`toolyard run FILE.${SUFFIXES[language]}`, `toolyard run - --language ${language}`]} />
    </>
  );
}

function Editor({ language, onRun }: { readonly language: CodeLanguage; readonly onRun: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  // The editor lives longer than one rendering, so it calls the function of the latest rendering.
  const latest = useRef(onRun);
  latest.current = onRun;
  useEffect(() => {
    const editor = openToolEditor({
      parent: box.current!,
      text: texts[language],
      language,
      label: t("code"),
      onText: (text) => (texts[language] = text),
      onRun: () => latest.current(),
    });
    return () => editor.destroy();
  }, []);
  return <div ref={box} class="code-place" />;
}

function useRun() {
  const [run, setRun] = useState<CodeRun>({ isRunning: false });
  const aborter = useRef<AbortController>(undefined);
  useEffect(() => () => aborter.current?.abort(), []);
  const start = async (language: CodeLanguage, inputs: string): Promise<void> => {
    const own = (aborter.current = new AbortController());
    setRun({ isRunning: true });
    try {
      const args = { language, code: texts[language], inputs: parseInputs(inputs) };
      const result = await runTool("tools/execute_code", args, { signal: own.signal, onNotice: () => {} });
      setRun({ isRunning: false, result });
    } catch (failure) {
      const error =
        failure instanceof ApiError ? failure : new ApiError(0, { kind: "cancelled", message: t("cancel") });
      setRun({ isRunning: false, error });
    }
  };
  return { run, start, stop: () => aborter.current?.abort() };
}

function parseInputs(text: string): unknown {
  try {
    return text.trim() === "" ? {} : (JSON.parse(text) as unknown);
  } catch {
    throw new ApiError(0, { kind: "invalid_params", message: t("invalidJson") });
  }
}

/** Shows the output of a run. A failed run has its output in the failure. */
function CodeOutput({ run: { result, error } }: { readonly run: CodeRun }) {
  const failed = toSchema(toSchema(toSchema(error?.body)["error"])["result"]);
  const whole = result?.result ?? failed;
  const value = toSchema(whole["structuredContent"]);
  if (Object.keys(value).length === 0) return null;
  const fault = toSchema(value["error"]);
  const blocks = Array.isArray(whole["content"]) ? whole["content"].slice(1) : [];
  return (
    <section class="card" aria-label={t("result")}>
      <h2>{t("result")}</h2>
      <p class="dim">
        {formatMs(Number(value["duration_ms"]))} · {String(value["engine"])} · {String(value["isolation"])}
      </p>
      {fault["traceback"] !== undefined && <Text title={t("errorsTotal")} text={String(fault["traceback"])} />}
      {value["result"] !== null && value["result"] !== undefined && <Json value={value["result"]} />}
      <Text title="stdout" text={String(value["stdout"] ?? "")} />
      <Text title="stderr" text={String(value["stderr"] ?? "")} />
      {blocks.length > 0 && <Result result={{ content: blocks }} />}
      <details>
        <summary>{t("details")}</summary>
        <Json value={value} />
      </details>
    </section>
  );
}

function Text({ title, text }: { readonly title: string; readonly text: string }) {
  if (text === "") return null;
  return (
    <>
      <h3>{title}</h3>
      <pre tabindex={0} dir="auto" class="text" aria-label={title}>
        <Foreign text={text} />
      </pre>
    </>
  );
}
