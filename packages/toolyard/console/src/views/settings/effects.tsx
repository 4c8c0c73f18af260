import type { SettingsEffects } from "../../../../src/features/console/settings/settings-types.ts";
import { t, type TextKey } from "../../i18n/texts.ts";

/** Shows what a save of the settings would restart. */
export function Effects({ effects }: { readonly effects: SettingsEffects }) {
  const { sources, sections, atRestart, reopens, warnings } = effects;
  const lists: readonly (readonly [TextKey, readonly string[]])[] = [
    ["effectStarts", sources.added],
    ["effectRestarts", sources.changed],
    ["effectEnds", sources.removed],
    ["effectSections", sections.map((name) => `[${name}]`)],
    ["effectAtRestart", atRestart.map((name) => `[${name}]`)],
  ];
  const shown = lists.filter(([, names]) => names.length > 0);
  return (
    <ul class="effects" aria-label={t("effects")}>
      {shown.length === 0 && <li>{t("effectNone")}</li>}
      {shown.map(([key, names]) => (
        <li key={key} class={key === "effectAtRestart" ? "reason" : ""}>
          {t(key)}{" "}
          {names.map((name) => (
            <bdi key={name} class="chip">
              {name}
            </bdi>
          ))}
        </li>
      ))}
      {reopens && <li class="reason">{t("effectReopens")}</li>}
      {warnings.map((warning) => (
        <li key={warning}>
          <bdi>{warning}</bdi>
        </li>
      ))}
    </ul>
  );
}
