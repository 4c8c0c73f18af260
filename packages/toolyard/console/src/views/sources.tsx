import { useState } from "preact/hooks";
import type { ActionResult, NewSource, SourceDetail, SourceSummary } from "../../../src/features/console/api-types.ts";
import { ApiError, call, session } from "../api.ts";
import { formatDate, formatMs, formatNumber, t } from "../i18n/texts.ts";
import { href, go, route } from "../route.ts";
import { HubNotice } from "../ui/hubs.tsx";
import { lateView } from "../ui/late-view.tsx";
import { Card, Commands, Foreign, Json, Name, Pending, State } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";
import { useData } from "../ui/use-data.ts";
import type { EditEntryProps } from "./sources/edit-entry.tsx";

export function Sources() {
  const { data, error, reload } = useData<{ readonly sources: readonly SourceSummary[] }>("sources", "sources");
  const [isAdding, setAdding] = useState(false);
  const chosen = route.value[1];
  if (!data) return <Pending error={error} retry={reload} />;
  return (
    <>
      {session.value?.mayChange && (
        <p>
          <button onClick={() => setAdding(!isAdding)} aria-expanded={isAdding}>
            {t("addSource")}
          </button>
        </p>
      )}
      {session.value?.isReadOnlyHub && <p class="notice">{t("readOnlyHub")}</p>}
      {session.value?.hub !== undefined && session.value.mayChange && <HubNotice text="changesOneHub" />}
      {isAdding && <AddForm onDone={() => (setAdding(false), void reload())} />}
      <div class="split sources">
        <Table title={t("sources")} heads={["source", "state", "tools", "callsTotal", "latency", "restarts"]}>
          {data.sources.map((source) => (
            <tr key={source.id} aria-selected={source.id === chosen}>
              <th scope="row">
                <a href={href("sources", source.id)}>
                  <Name text={source.id} />
                </a>
                <small class="dim">{source.kind}</small>
              </th>
              <td>
                <State state={source.state} />
              </td>
              <td class="number">{formatNumber(source.tools)}</td>
              <td class="number">
                {formatNumber(source.calls.calls)}
                {source.calls.errors > 0 && <span class="state down"> {formatNumber(source.calls.errors)}</span>}
              </td>
              <td class="number">{formatMs(source.calls.p50)}</td>
              <td class="number">{formatNumber(source.restarts)}</td>
            </tr>
          ))}
        </Table>
        {chosen !== undefined && <Detail key={chosen} id={chosen} onChanged={reload} />}
      </div>
      <Commands lines={["toolyard status", "toolyard add NAME -- COMMAND", "toolyard add NAME https://…"]} />
    </>
  );
}

function Detail({ id, onChanged }: { readonly id: string; readonly onChanged: () => Promise<void> }) {
  const path = `sources/${encodeURIComponent(id)}`;
  const { data, error, reload } = useData<SourceDetail>(path, "sources");
  const [message, setMessage] = useState<{ readonly text: string; readonly isBad: boolean }>();
  const [isBusy, setBusy] = useState(false);
  if (!data) return <Pending error={error} retry={reload} />;
  const act = async (action: SourceAction): Promise<void> => {
    setBusy(true);
    try {
      const { message: text } = action
        ? await call<ActionResult>("POST", `${path}/${action}`)
        : await call<ActionResult>("DELETE", path);
      setMessage({ text, isBad: false });
      if (!action) go("sources");
      await Promise.all([reload(), onChanged()]);
    } catch (failure) {
      setMessage({ text: failure instanceof ApiError ? failure.message : String(failure), isBad: true });
    } finally {
      setBusy(false);
    }
  };
  const { mayChange = false } = session.value ?? {};
  return (
    <section class="card detail" aria-label={id}>
      <h2>
        <Name text={id} /> <State state={data.state} />
      </h2>
      <Facts data={data} />
      {mayChange && <Actions data={data} isBusy={isBusy} act={act} />}
      {message && (
        <p class={message.isBad ? "notice" : "done"} role={message.isBad ? "alert" : "status"}>
          <Foreign text={message.text} />
        </p>
      )}
      {data.problems.length > 0 && <Problems problems={data.problems} />}
      <details>
        <summary>
          {t("tools")} ({formatNumber(data.toolNames.length)})
        </summary>
        <ul class="names">
          {data.toolNames.slice(0, 500).map((name) => (
            <li key={name}>
              <Name text={name} />
            </li>
          ))}
        </ul>
      </details>
      <details open={data.state === "down"}>
        <summary>{t("stderr")}</summary>
        <pre tabindex={0} dir="ltr">
          {data.stderr.length === 0 ? t("nothingYet") : <Foreign text={data.stderr.join("\n")} />}
        </pre>
      </details>
      <details>
        <summary>{t("details")}</summary>
        <Json value={data.info} />
      </details>
      {data.entry && <Entry data={data} onSaved={() => Promise.all([reload(), onChanged()]).then(() => {})} />}
      <Commands lines={data.commands} />
    </section>
  );
}

interface EntryProps {
  readonly data: SourceDetail;
  readonly onSaved: () => Promise<void>;
}

/** Shows the entry of a source in its file: to administrators as a form, if the file can be edited. */
function Entry({ data, onSaved }: EntryProps) {
  const [isOpen, setOpen] = useState(false);
  const isEditable = data.isEditable && data.digest !== undefined && session.value?.mayChange === true;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t(isEditable ? "edit" : "entry")}</summary>
      {isOpen && isEditable && <LateEditEntry source={data} onSaved={onSaved} />}
      {isOpen && !isEditable && <Json value={data.entry} />}
    </details>
  );
}

const LateEditEntry = lateView<EditEntryProps>(async () => (await import("./sources/edit-entry.tsx")).EditEntry);

function Facts({ data }: { readonly data: SourceDetail }) {
  return (
    <>
      {data.reason !== undefined && (
        <p class="reason">
          <Foreign text={data.reason} />
        </p>
      )}
      {data.since !== undefined && (
        <p class="dim">
          {t("since")} {formatDate(data.since)}
        </p>
      )}
      <p class="dim">
        {data.file === undefined ? t("notInFile") : `${t("file")}: ${data.file}`}
        {data.file !== undefined && !data.isEditable && ` · ${t("readOnly", { reason: data.readOnlyReason ?? "" })}`}
      </p>
    </>
  );
}

function Problems({ problems }: Pick<SourceDetail, "problems">) {
  return (
    <Card title={t("problems")}>
      <ul>
        {problems.map(({ subject, message: text }) => (
          <li key={`${subject} ${text}`}>
            <b>
              <Name text={subject} />
            </b>{" "}
            <Foreign text={text} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

type SourceAction = "restart" | "refresh" | "enable" | "disable" | undefined;

interface ActionsProps {
  readonly data: SourceDetail;
  readonly isBusy: boolean;
  /** Without an action, removes the source. */
  readonly act: (action: SourceAction) => Promise<void>;
}

function Actions({ data, isBusy, act }: ActionsProps) {
  return (
    <p class="actions">
      {data.state === "needs_authorisation" && data.signIn !== undefined && (
        <a class="button" href={href("signIns")}>
          {t("signIn")}
        </a>
      )}
      <button disabled={isBusy} onClick={() => void act("restart")}>
        {t("restart")}
      </button>
      <button disabled={isBusy} onClick={() => void act("refresh")}>
        {t("refresh")}
      </button>
      {data.isEditable && (
        <>
          <button disabled={isBusy} onClick={() => void act(data.state === "disabled" ? "enable" : "disable")}>
            {t(data.state === "disabled" ? "enable" : "disable")}
          </button>
          <button
            disabled={isBusy}
            onClick={() => {
              if (confirm(t("removeConfirm", { name: data.id, file: data.file ?? "" }))) void act(undefined);
            }}
          >
            {t("remove")}
          </button>
        </>
      )}
    </p>
  );
}

function AddForm({ onDone }: { readonly onDone: () => void }) {
  const [isRemote, setRemote] = useState(false);
  const [problem, setProblem] = useState("");
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string): string => String(form.get(name) ?? "").trim();
    const lines = text("env")
      .split("\n")
      .filter((line) => line.includes("="));
    const env = Object.fromEntries(lines.map((line) => [line.split("=", 1)[0]!, line.slice(line.indexOf("=") + 1)]));
    const body: NewSource = isRemote
      ? { name: text("name"), url: text("url"), ...(text("token") !== "" && { tokenEnv: text("token") }) }
      : { name: text("name"), command: [text("command")], ...(lines.length > 0 && { env }) };
    try {
      await call<ActionResult>("POST", "sources", { body });
      onDone();
      go("sources", body.name);
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return (
    <form class="card form" onSubmit={(event) => void submit(event as unknown as SubmitEvent)}>
      {problem !== "" && (
        <p class="notice" role="alert">
          {problem}
        </p>
      )}
      <label>
        {t("kind")}
        <select
          value={isRemote ? "remote" : "local"}
          onChange={(event) => setRemote(event.currentTarget.value === "remote")}
        >
          <option value="local">{t("onThisMachine")}</option>
          <option value="remote">{t("remote")}</option>
        </select>
      </label>
      <label>
        {t("name")} <input name="name" required pattern="[A-Za-z0-9_.\-]+" autocomplete="off" />
      </label>
      {isRemote ? (
        <>
          <label>
            {t("address")} <input name="url" type="url" required placeholder={t("addressHint")} />
          </label>
          <label>
            {t("tokenVariable")} <input name="token" autocomplete="off" />
          </label>
        </>
      ) : (
        <>
          <label>
            {t("command")} <input name="command" required placeholder={t("commandHint")} autocomplete="off" />
          </label>
          <label>
            {t("variables")} <textarea name="env" rows={3} />
          </label>
        </>
      )}
      <p>
        <button class="main">{t("add")}</button>
      </p>
    </form>
  );
}
