import type { HubRow } from "../../../src/features/console/api-types.ts";
import { session, showHub } from "../api.ts";
import { t } from "../i18n/texts.ts";
import { useData } from "./use-data.ts";

/** Returns the hubs of the store, the one that this page shows first. */
function useHubs(): readonly HubRow[] {
  const { data } = useData<{ readonly hubs: readonly HubRow[] }>("hubs", "sources");
  return data?.hubs ?? [];
}

function nameOf({ id, url }: HubRow): string {
  return url === undefined ? id : `${URL.canParse(url) ? new URL(url).host : url} (${id})`;
}

/** Selects the hub that this page shows. Shown if several hubs share a store. */
export function HubChoice() {
  const hubs = useHubs();
  if (hubs.length < 2) return null;
  return (
    <label class="pick hub">
      <span class="hidden">{t("hub")}</span>
      <select value={session.value?.hub} onChange={(event) => showHub(event.currentTarget.value)}>
        {hubs
          .toSorted((one, other) => one.id.localeCompare(other.id))
          .map((hub) => (
            <option key={hub.id} value={hub.id}>
              {nameOf(hub)}
              {hub.isDifferent ? ` · ${t("otherConfiguration")}` : ""}
            </option>
          ))}
      </select>
    </label>
  );
}

/** States which hub a change applies to. Shown if several hubs share a store. */
export function HubNotice({ text }: { readonly text: "changesOneHub" | "savesOneHub" }) {
  const hubs = useHubs();
  const [own] = hubs;
  if (hubs.length < 2 || !own) return null;
  return (
    <p class="notice" role="note">
      {t(text, { hub: nameOf(own), count: hubs.length - 1 })}
    </p>
  );
}
