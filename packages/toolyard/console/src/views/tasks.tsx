import { useState } from "preact/hooks";
import type { ScheduleRow, TaskDetail, TaskRow } from "../../../src/features/console/task-types.ts";
import { call, session } from "../api.ts";
import { formatDate, formatNumber, t } from "../i18n/texts.ts";
import { href, route } from "../route.ts";
import { Failure, useAction } from "../ui/failure.tsx";
import { Commands, Foreign, Json, Name, Pending } from "../ui/parts.tsx";
import { Result } from "../ui/result.tsx";
import { Field, startValue, toSchema, type Schema } from "../ui/schema-form.tsx";
import { TableSection } from "../ui/table.tsx";
import { useData } from "../ui/use-data.ts";

/** Classes of the states, which determine their colours. */
const CLASSES: Readonly<Record<TaskRow["status"], string>> = {
  working: "starting",
  input_required: "needs_authorisation",
  completed: "ready",
  failed: "down",
  cancelled: "disabled",
};

export function Tasks() {
  const [, part, name] = route.value;
  return (
    <>
      <div class="split">
        <div>
          <OwnTasks chosen={part === "schedule" ? undefined : part} />
          {session.value?.seesAll && <Schedules chosen={part === "schedule" ? name : undefined} />}
        </div>
        {part !== undefined &&
          (part === "schedule" ? (
            <ScheduleDetail key={name} name={name ?? ""} />
          ) : (
            <Detail key={part} path={`tasks/${encodeURIComponent(part)}`} />
          ))}
      </div>
      <Commands lines={commandsFor(part, name)} />
    </>
  );
}

function commandsFor(part: string | undefined, name: string | undefined): readonly string[] {
  if (part === undefined) return ["toolyard tasks list", "toolyard schedules list", "toolyard call TOOL --task"];
  if (part !== "schedule") return [`toolyard tasks show ${part}`, `toolyard tasks cancel ${part}`];
  const word = /^[\w.-]+$/.test(name ?? "") ? name! : JSON.stringify(name);
  return ["show", "run", "cancel"].map((command) => `toolyard schedules ${command} ${word}`);
}

function Status({ task: { status, isError } }: { readonly task: TaskRow }) {
  const isFailed = status === "completed" && isError;
  return (
    <span class={`state ${isFailed ? "down" : CLASSES[status]}`}>{t(isFailed ? "task_failed" : `task_${status}`)}</span>
  );
}

function OwnTasks({ chosen }: { readonly chosen: string | undefined }) {
  const { data, error, reload } = useData<{ readonly tasks: readonly TaskRow[] }>("tasks", "tasks");
  if (!data) return <Pending error={error} retry={reload} />;
  const emptyText = data.tasks.length === 0 ? t("noTasks") : undefined;
  return (
    <TableSection title={t("ownTasks")} heads={["tool", "state", "since"]} emptyText={emptyText}>
      {data.tasks.map((task) => (
        <tr key={task.id} aria-selected={task.id === chosen}>
          <th scope="row">
            <a href={href("tasks", task.id)}>
              <Name text={task.tool} />
            </a>
            <small class="dim">
              <Foreign text={task.statusMessage ?? ""} />
            </small>
          </th>
          <td>
            <Status task={task} />
          </td>
          <td>{formatDate(task.createdAt)}</td>
        </tr>
      ))}
    </TableSection>
  );
}

function isOpen({ status }: TaskRow): boolean {
  return status === "working" || status === "input_required";
}

function Detail({ path }: { readonly path: string }) {
  const { data, error, reload } = useData<TaskDetail>(path, "tasks");
  const { isBusy, error: failure, act } = useAction();
  if (!data) return <Pending error={error} retry={reload} />;
  const change = (method: "POST" | "DELETE", end: string, body?: object): Promise<void> =>
    act(async () => {
      await call(method, path + end, body ? { body } : {});
      await reload();
    });
  return (
    <section class="card detail" aria-label={data.tool}>
      <h2>
        <Name text={data.tool} /> <Status task={data} />
      </h2>
      <TaskFacts task={data} />
      {isOpen(data) && (
        <p class="actions">
          <button disabled={isBusy} onClick={() => void change("DELETE", "")}>
            {t("stop")}
          </button>
        </p>
      )}
      {failure && <Failure error={failure} />}
      {Object.entries(data.inputRequests ?? {}).map(([key, request]) => (
        <InputRequest
          key={key}
          request={request}
          isBusy={isBusy}
          onAnswer={(answer) => void change("POST", "/input", { [key]: answer })}
        />
      ))}
      <TaskEnd task={data} />
    </section>
  );
}

function TaskFacts({ task }: { readonly task: TaskDetail }) {
  return (
    <>
      <p aria-live="polite">
        <Foreign text={task.statusMessage ?? ""} />
      </p>
      <p class="dim">
        {t("since")} {formatDate(task.createdAt)} · {task.endpoint}
      </p>
    </>
  );
}

function TaskEnd({ task: { result, error } }: { readonly task: TaskDetail }) {
  return (
    <>
      {error && (
        <p class="notice">
          <b>{error.code}</b> <Foreign text={error.message} />
        </p>
      )}
      {result && (
        <>
          <h3>{t("result")}</h3>
          <Result result={result} />
        </>
      )}
    </>
  );
}

interface InputRequestProps {
  readonly request: Schema;
  readonly isBusy: boolean;
  readonly onAnswer: (answer: object) => void;
}

/**
 * Shows a question of a tool. Questions that need a model or folders can only be answered by the client that started
 * the task.
 */
function InputRequest({ request, isBusy, onAnswer }: InputRequestProps) {
  const params = toSchema(request["params"]);
  const schema: Schema = { type: "object", ...toSchema(params["requestedSchema"]) };
  const [value, setValue] = useState<unknown>(() => startValue(schema, schema) ?? {});
  if (request["method"] !== "elicitation/create")
    return (
      <>
        <p>{t("answerElsewhere")}</p>
        <Json value={request} />
      </>
    );
  const isEmpty = Object.keys(toSchema(schema["properties"])).length === 0;
  return (
    <form
      class="question"
      aria-label={t("question")}
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ action: "accept", content: value });
      }}
    >
      <p>
        <Foreign text={String(params["message"] ?? "")} />
      </p>
      <QuestionLink url={params["url"]} />
      {!isEmpty && <Field label={t("question")} schema={schema} root={schema} value={value} onChange={setValue} />}
      <p class="actions">
        <button class="main" disabled={isBusy}>
          {t("accept")}
        </button>
        <button type="button" disabled={isBusy} onClick={() => onAnswer({ action: "decline" })}>
          {t("decline")}
        </button>
      </p>
    </form>
  );
}

function QuestionLink({ url }: { readonly url: unknown }) {
  if (typeof url !== "string" || !/^https?:\/\//i.test(url)) return null;
  return (
    <p>
      <a href={url} target="_blank" rel="noopener noreferrer">
        <Name text={url} />
      </a>
    </p>
  );
}

function Schedules({ chosen }: { readonly chosen: string | undefined }) {
  const { data, error, reload } = useData<{ readonly schedules: readonly ScheduleRow[] }>(
    "schedules",
    "tasks",
    "sources",
  );
  if (!data) return <Pending error={error} retry={reload} />;
  const emptyText = data.schedules.length === 0 ? t("noSchedules") : undefined;
  return (
    <TableSection title={t("schedules")} heads={["name", "tool", "nextRun", "lastRun"]} emptyText={emptyText}>
      {data.schedules.map((schedule) => (
        <ScheduleLine key={schedule.name} schedule={schedule} isChosen={schedule.name === chosen} />
      ))}
    </TableSection>
  );
}

function ScheduleLine({ schedule, isChosen }: { readonly schedule: ScheduleRow; readonly isChosen: boolean }) {
  const { name, cron, tool, next, problem, runs } = schedule;
  return (
    <tr aria-selected={isChosen}>
      <th scope="row">
        <a href={href("tasks", "schedule", name)}>
          <Name text={name} />
        </a>
        <small class="dim">
          <code>{cron}</code>
        </small>
      </th>
      <td>
        <Name text={tool} />
      </td>
      <td>{nextText(schedule, next)}</td>
      <td>{problem ? <span class="state down">{t("notStarted")}</span> : runs[0] && <Status task={runs[0]} />}</td>
    </tr>
  );
}

function nextText({ enabled }: ScheduleRow, next: string | undefined): string {
  if (!enabled) return t("state_disabled");
  return next === undefined ? "–" : formatDate(next);
}

function ScheduleDetail({ name }: { readonly name: string }) {
  const path = `schedules/${encodeURIComponent(name)}`;
  const { data, error, reload } = useData<ScheduleRow>(path, "tasks");
  const { isBusy, error: failure, act } = useAction();
  if (!data) return <Pending error={error} retry={reload} />;
  const change = (method: "POST" | "DELETE"): void =>
    void act(async () => {
      await call(method, path, method === "POST" ? { body: {} } : {});
      await reload();
    });
  return (
    <section class="card detail" aria-label={name}>
      <h2>
        <Name text={name} />
      </h2>
      <p class="dim">
        <code>{data.cron}</code> {data.timezone} · <Name text={data.tool} /> · {t("nextRun")}{" "}
        {nextText(data, data.next)}
      </p>
      {data.skipped > 0 && <p class="dim">{t("skippedRuns", { count: data.skipped })}</p>}
      {data.problem && (
        <p class="notice">
          {formatDate(data.problem.at)} <Foreign text={data.problem.message} />
        </p>
      )}
      <p class="actions">
        <button disabled={isBusy} onClick={() => change("POST")}>
          {t("runNow")}
        </button>
        {data.runs.some(isOpen) && (
          <button disabled={isBusy} onClick={() => change("DELETE")}>
            {t("stop")}
          </button>
        )}
      </p>
      {failure && <Failure error={failure} />}
      <h3>{t("runs", { count: formatNumber(data.runs.length) })}</h3>
      {data.runs.map((run, at) => (
        <details key={run.id} open={at === 0}>
          <summary>
            {formatDate(run.createdAt)} <Status task={run} />
          </summary>
          <TaskFacts task={run} />
          <TaskEnd task={run} />
        </details>
      ))}
    </section>
  );
}
