import { useMemo, useState } from "preact/hooks";
import type {
  SettingsConflict,
  SettingsFile,
  SettingsInfo,
} from "../../../src/features/console/settings/settings-types.ts";
import { get, session } from "../api.ts";
import { formatDate, t } from "../i18n/texts.ts";
import { CodeEditor } from "../ui/code-editor.tsx";
import { HubNotice } from "../ui/hubs.tsx";
import { Commands, Foreign, Json, Name, Pending } from "../ui/parts.tsx";
import { toSchema, type Schema } from "../ui/schema-form.tsx";
import { useData } from "../ui/use-data.ts";
import { useDraft, type EditedSettings } from "./settings/draft.ts";
import { Effects } from "./settings/effects.tsx";
import { SettingsForm } from "./settings/form.tsx";
import { withoutReferences } from "./settings/schema.ts";

const COMMANDS = ["toolyard config", "toolyard check", "toolyard config --schema"];

/** Shows the configuration files: a form and the text side by side. */
export function Settings() {
  const { data, error, reload } = useData<SettingsInfo>("settings");
  const { data: schema } = useData<Schema>("settings/schema");
  const [path, setPath] = useState<string>();
  if (session.value?.isReadOnlyHub)
    return (
      <>
        <p class="notice">{t("readOnlyHub")}</p>
        <Commands lines={COMMANDS} />
      </>
    );
  if (!data || !schema) return <Pending error={error} retry={reload} />;
  const file = data.files.find((one) => one.path === path) ?? data.files[0];
  return (
    <>
      {data.readOnlyReason !== undefined && <p class="notice">{data.readOnlyReason}</p>}
      {session.value?.hub !== undefined && <HubNotice text="savesOneHub" />}
      {data.files.length > 1 && (
        <label class="field">
          <span>{t("file")}</span>
          <select value={file?.path} onChange={(event) => setPath(event.currentTarget.value)}>
            {data.files.map((one) => (
              <option key={one.path} value={one.path}>
                {one.path}
              </option>
            ))}
          </select>
        </label>
      )}
      {file && <FileView key={file.path} file={file} info={data} schema={schema} reload={reload} />}
      <Commands lines={COMMANDS} />
    </>
  );
}

interface FileProps {
  readonly file: SettingsFile;
  readonly info: SettingsInfo;
  readonly schema: Schema;
  readonly reload: () => Promise<void>;
}

function FileView(props: FileProps) {
  const { file } = props;
  return (
    <section aria-label={file.path}>
      <p class="dim">
        {t("file")}: <Name text={file.path} />
      </p>
      {file.reason !== undefined && <p class="notice">{t("readOnly", { reason: file.reason })}</p>}
      {file.text !== undefined && <Editor {...props} />}
      {file.text === undefined && file.tree && <Json value={file.tree} />}
    </section>
  );
}

function Editor({ file, info, schema, reload }: FileProps) {
  const draft = useDraft(file, async () => {
    const { files } = await get<SettingsInfo>("settings");
    await reload();
    return files.find(({ path }) => path === file.path);
  });
  const isReadOnly = !file.isEditable || session.value?.mayChange !== true;
  const { check, conflict } = draft;
  const fields = useMemo(() => toSchema(withoutReferences(schema)), [schema]);
  return (
    <>
      <Bar draft={draft} file={file} isReadOnly={isReadOnly} />
      <Status draft={draft} />
      {conflict && <Conflict own={draft.text} conflict={conflict} solve={draft.solveConflict} />}
      <div class="sides">
        <SettingsForm
          schema={fields}
          tree={toSchema(check?.tree ?? file.tree)}
          overrides={info.overrides}
          isReadOnly={isReadOnly}
          onValue={draft.setValue}
        />
        <div class="text-side">
          <CodeEditor
            label={t("textOfFile")}
            text={draft.text}
            language="toml"
            isReadOnly={isReadOnly}
            revision={draft.revision}
            onText={draft.setTyped}
          />
          <p class="dim">{t("secretsHidden")}</p>
        </div>
      </div>
    </>
  );
}

interface BarProps {
  readonly draft: EditedSettings;
  readonly file: SettingsFile;
  readonly isReadOnly: boolean;
}

function Bar({ draft, file, isReadOnly }: BarProps) {
  if (isReadOnly) return null;
  const { text, check, isBusy } = draft;
  const isChanged = text !== file.text;
  const hasProblems = (check?.problems.length ?? 0) > 0;
  const show = async (id: string): Promise<void> => {
    const path = `settings/versions/${id}?file=${encodeURIComponent(file.path)}`;
    if (id !== "") draft.setText((await get<{ readonly text: string }>(path)).text);
  };
  return (
    <p class="actions bar">
      <button class="main" disabled={isBusy || !isChanged || hasProblems} onClick={() => void draft.save()}>
        {t("save")}
      </button>
      <button disabled={isBusy || !isChanged} onClick={() => draft.setText(file.text ?? "")}>
        {t("discard")}
      </button>
      <button disabled={isBusy || isChanged || file.versions.length === 0} onClick={() => void draft.undo()}>
        {t("undo")}
      </button>
      {file.versions.length > 0 && (
        <label>
          <span class="hidden">{t("versions")}</span>
          <select value="" onChange={(event) => void show(event.currentTarget.value)}>
            <option value="">{t("versions")}</option>
            {file.versions.map(({ id, time, by }) => (
              <option key={id} value={id}>
                {formatDate(time)} · {by}
              </option>
            ))}
          </select>
        </label>
      )}
    </p>
  );
}

/** Shows the result of the hub's check of the text: problems, or the effects of a save. */
function Status({ draft: { check, message } }: { readonly draft: EditedSettings }) {
  return (
    <div aria-live="polite">
      {message && (
        <p class={message.isBad ? "notice" : "done"} role={message.isBad ? "alert" : "status"}>
          <Foreign text={message.text} />
        </p>
      )}
      {check?.problems.map((problem) => (
        <p key={problem} class="notice problem">
          <Foreign text={problem} />
        </p>
      ))}
      {check?.isChanged && check.effects && (
        <>
          <h2>{t("effects")}</h2>
          <Effects effects={check.effects} />
        </>
      )}
    </div>
  );
}

interface ConflictProps {
  readonly own: string;
  readonly conflict: SettingsConflict;
  readonly solve: (keepsOwn: boolean) => void;
}

/** Shows both texts of a file that another program has changed, and lets the user choose one. */
function Conflict({ own, conflict, solve }: ConflictProps) {
  return (
    <section class="card attention" aria-label={t("conflict")}>
      <h2>{t("conflict")}</h2>
      <div class="sides">
        <div>
          <h3>{t("onDisk")}</h3>
          <pre tabindex={0} dir="ltr">
            <Foreign text={conflict.text} />
          </pre>
          <button onClick={() => solve(false)}>{t("useDisk")}</button>
        </div>
        <div>
          <h3>{t("yourText")}</h3>
          <pre tabindex={0} dir="ltr">
            <Foreign text={own} />
          </pre>
          <button onClick={() => solve(true)}>{t("keepOwn")}</button>
        </div>
      </div>
    </section>
  );
}
