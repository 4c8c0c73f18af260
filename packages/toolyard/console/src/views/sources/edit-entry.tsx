import { useMemo, useState } from "preact/hooks";
import type { SourceDetail } from "../../../../src/features/console/api-types.ts";
import type { SettingsSaved } from "../../../../src/features/console/settings/settings-types.ts";
import { ApiError, call } from "../../api.ts";
import { t } from "../../i18n/texts.ts";
import { Foreign, Pending } from "../../ui/parts.tsx";
import { Field, toSchema, type Schema } from "../../ui/schema-form.tsx";
import { useData } from "../../ui/use-data.ts";
import { schemaAt, withoutNulls, withoutReferences } from "../settings/schema.ts";

export interface EditEntryProps {
  readonly source: SourceDetail;
  readonly onSaved: () => Promise<void>;
}

/** Shows a form for the entry of a source in its file, by the schema of the configuration. */
export function EditEntry({ source, onSaved }: EditEntryProps) {
  const { id, entry, entryPath = [], digest } = source;
  const { data: schema, error, reload } = useData<Schema>("settings/schema");
  // The edited entry, and the digest of its file when the user began to edit. They are kept because the entry is read
  // again at each change of the source's state.
  const [edited, setEdited] = useState<{ readonly entry: unknown; readonly digest: string | undefined }>();
  const [isBusy, setBusy] = useState(false);
  const [message, setMessage] = useState<{ readonly text: string; readonly isBad: boolean }>();
  const root = useMemo(() => toSchema(withoutReferences(schema)), [schema]);
  if (!schema) return <Pending error={error} retry={reload} />;
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { entry: withoutNulls(edited?.entry ?? entry), digest: edited?.digest ?? digest };
      const { message: text } = await call<SettingsSaved>("PUT", `sources/${encodeURIComponent(id)}`, { body });
      setMessage({ text, isBad: false });
      setEdited(undefined);
      await onSaved();
    } catch (failure) {
      setMessage({ text: failure instanceof ApiError ? failure.message : String(failure), isBad: true });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form aria-label={t("edit")} onSubmit={(event) => void save(event)}>
      <p class="dim">{t("secretsHidden")}</p>
      <Field
        label={id}
        schema={schemaAt(root, entryPath)}
        root={root}
        value={edited ? edited.entry : entry}
        onChange={(next) => setEdited((old) => ({ entry: next, digest: old ? old.digest : digest }))}
      />
      {message && (
        <p class={message.isBad ? "notice" : "done"} role={message.isBad ? "alert" : "status"}>
          <Foreign text={message.text} />
        </p>
      )}
      <p class="actions">
        <button class="main" disabled={isBusy || edited === undefined}>
          {t("save")}
        </button>
        <button type="button" disabled={edited === undefined} onClick={() => setEdited(undefined)}>
          {t("discard")}
        </button>
      </p>
    </form>
  );
}
