import { useEffect, useRef, useState } from "preact/hooks";
import type { ToolDetail } from "../../../src/features/console/api-types.ts";
import type { OpenedApp } from "../../../src/features/console/app-types.ts";
import { call } from "../api.ts";
import { t } from "../i18n/texts.ts";
import { AppHost, type AppQuestion } from "./app-host.ts";
import { Failure, useAction } from "./failure.tsx";
import { Foreign, Json } from "./parts.tsx";
import type { Schema } from "./schema-form.tsx";

const MAX_LINES = 100;
/**
 * Time before the user can allow a request, so that a double click on the previous question does not allow the next
 * one.
 */
const ALLOW_AFTER_MS = 700;

export interface AppFrameProps {
  readonly tool: ToolDetail;
  readonly args: unknown;
  readonly result: Promise<Schema>;
}

interface OpenQuestion extends AppQuestion {
  readonly answer: (isPermitted: boolean) => void;
}

/** Shows the page of a tool in a frame without access to the console, and asks the user about its requests. */
export function AppFrame({ tool, args, result }: AppFrameProps) {
  const [app, setApp] = useState<OpenedApp>();
  const { error, act } = useAction();
  const frame = useRef<HTMLIFrameElement>(null);
  const [questions, setQuestions] = useState<readonly OpenQuestion[]>([]);
  const [lines, setLines] = useState<readonly string[]>([]);
  useEffect(() => {
    void act(async () => setApp(await call<OpenedApp>("POST", "apps", { body: { tool: tool.name } })));
  }, []);
  useEffect(() => {
    if (!app || !frame.current) return undefined;
    const ask = (question: AppQuestion): Promise<boolean> =>
      new Promise((answer) => setQuestions((before) => [...before, { ...question, answer }]));
    const onLog = (line: string): void => setLines((before) => [...before, line].slice(-MAX_LINES));
    const host = new AppHost({ app, tool, args, result, frame: frame.current, ask, onLog });
    frame.current.src = new URL(app.path, document.baseURI).href;
    return () => host.close();
  }, [app]);
  const [question] = questions;
  const answer = (isPermitted: boolean): void => {
    question?.answer(isPermitted);
    setQuestions((before) => before.slice(1));
  };
  return (
    <section aria-label={t("app")}>
      {error && <Failure error={error} />}
      {question && <Question question={question} onAnswer={answer} />}
      {app && (
        <iframe
          ref={frame}
          class={app.prefersBorder ? "app bordered" : "app"}
          title={t("appOf", { name: tool.name })}
          sandbox="allow-scripts allow-forms"
          allow=""
          referrerpolicy="no-referrer"
        />
      )}
      {lines.length > 0 && (
        <details>
          <summary>{t("logs")}</summary>
          <pre tabindex={0}>
            <Foreign text={lines.join("\n")} />
          </pre>
        </details>
      )}
    </section>
  );
}

interface QuestionProps {
  readonly question: AppQuestion;
  readonly onAnswer: (isPermitted: boolean) => void;
}

function Question({ question, onAnswer }: QuestionProps) {
  const { kind, subject, details } = question;
  const [allowable, setAllowable] = useState<AppQuestion>();
  useEffect(() => {
    const timer = setTimeout(() => setAllowable(question), ALLOW_AFTER_MS);
    return () => clearTimeout(timer);
  }, [question]);
  return (
    <div class="notice" role="alertdialog" aria-label={t(`app_${kind}`)}>
      <p>
        {t(`app_${kind}`)}{" "}
        <b>
          <Foreign text={subject} />
        </b>
      </p>
      {details !== undefined && <Json value={details} />}
      <p class="actions">
        <button type="button" class="main" disabled={allowable !== question} onClick={() => onAnswer(true)}>
          {t("allow")}
        </button>
        <button type="button" onClick={() => onAnswer(false)}>
          {t("decline")}
        </button>
      </p>
    </div>
  );
}
