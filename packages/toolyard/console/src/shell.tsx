import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import { isOnline, session, signOut } from "./api.ts";
import { chooseLanguage, language, LANGUAGES, t, type Language, type TextKey } from "./i18n/texts.ts";
import { isLive } from "./live.ts";
import { href, route } from "./route.ts";
import { applyTheme, theme, THEMES, type Theme } from "./theme.ts";
import { lateView } from "./ui/late-view.tsx";
import { HubChoice } from "./ui/hubs.tsx";
import { Palette } from "./ui/palette.tsx";
import { Commands, Foreign } from "./ui/parts.tsx";
import { Calls } from "./views/calls.tsx";
import { Logs } from "./views/logs.tsx";
import { Overview } from "./views/overview.tsx";
import { Prompts } from "./views/prompts.tsx";
import { Resources } from "./views/resources.tsx";
import { Sources } from "./views/sources.tsx";
import { Tools } from "./views/tools.tsx";

interface ViewEntry {
  readonly name: TextKey;
  /** False: shown only to callers whose rights are not restricted. */
  readonly forAll: boolean;
  readonly view: ComponentType;
  /** Capability without which the view is not shown. */
  readonly needs?: "hasChat" | "hasCode";
}

/** The views in the order of the navigation. */
export const VIEWS: readonly ViewEntry[] = [
  { name: "overview", forAll: false, view: Overview },
  { name: "sources", forAll: false, view: Sources },
  { name: "tools", forAll: true, view: Tools },
  { name: "resources", forAll: true, view: Resources },
  { name: "prompts", forAll: true, view: Prompts },
  {
    name: "chat",
    forAll: true,
    needs: "hasChat",
    view: lateView(async () => (await import("./views/chat.tsx")).ChatView),
  },
  {
    name: "code",
    forAll: true,
    needs: "hasCode",
    view: lateView(async () => (await import("./views/code.tsx")).CodeView),
  },
  { name: "tasks", forAll: true, view: lateView(async () => (await import("./views/tasks.tsx")).Tasks) },
  { name: "approvals", forAll: false, view: lateView(async () => (await import("./views/approvals.tsx")).Approvals) },
  { name: "signIns", forAll: true, view: lateView(async () => (await import("./views/sign-ins.tsx")).SignIns) },
  { name: "calls", forAll: true, view: Calls },
  { name: "users", forAll: false, view: lateView(async () => (await import("./views/users.tsx")).Users) },
  { name: "profiles", forAll: false, view: lateView(async () => (await import("./views/profiles.tsx")).Profiles) },
  { name: "logs", forAll: false, view: Logs },
  { name: "settings", forAll: false, view: lateView(async () => (await import("./views/settings.tsx")).Settings) },
];

export function Shell() {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const { seesAll = false, hasChat = false, hasCode = false, adminLimits } = session.value ?? {};
  const capabilities = { hasChat, hasCode };
  // An administrator with narrowed rights finds each view, and in it the reason why it is not shown.
  const shown = VIEWS.filter(
    ({ forAll, needs }) =>
      (forAll || seesAll || adminLimits !== undefined) && (needs === undefined || capabilities[needs]),
  );
  const current = shown.find(({ name }) => name === route.value[0]) ?? shown[0]!;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setPaletteOpen(true);
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  // On a phone, the navigation is a row that scrolls, so the link of the current view is scrolled into view.
  useEffect(() => {
    const link = document.querySelector("nav [aria-current]");
    link?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current.name]);
  useEffect(() => {
    document.title = `${t(current.name)} · ${session.value?.title ?? "Toolyard"}`;
  });
  const View = current.view;
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t("skip")}
      </a>
      <Header onPalette={() => setPaletteOpen(true)} />
      <nav aria-label={t("menu")}>
        <ul>
          {shown.map(({ name }) => (
            <li key={name}>
              <a href={href(name)} {...(name === current.name && { "aria-current": "page" as const })}>
                {t(name)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="main" tabindex={-1} ref={main}>
        {!isOnline.value && (
          <p class="notice" role="alert">
            {t("offline")}
          </p>
        )}
        <h1>{t(current.name)}</h1>
        {session.value &&
          (adminLimits && !current.forAll ? <NarrowedAdmin limits={adminLimits} /> : <View key={current.name} />)}
      </main>
      {isPaletteOpen && <Palette views={shown.map(({ name }) => name)} onClose={() => setPaletteOpen(false)} />}
    </div>
  );
}

/** Explains to an administrator with narrowed rights why a view of the hub is not shown, and how to change that. */
function NarrowedAdmin({ limits }: { readonly limits: readonly string[] }) {
  return (
    <section class="notice" role="alert">
      <p>{t("narrowedAdmin")}</p>
      <ul>
        {limits.map((limit) => (
          <li key={limit}>
            <Foreign text={limit} />
          </li>
        ))}
      </ul>
      <p>
        {t("narrowedAdminHelp")} {t("narrowedAdminRoles")}
      </p>
      <Commands lines={["toolyard whoami", "toolyard check"]} />
    </section>
  );
}

function Header({ onPalette }: { readonly onPalette: () => void }) {
  const { title = "Toolyard", version = "", by, caller, hub, seesAll } = session.value ?? {};
  return (
    <header>
      <strong class="brand">
        <bdi>{title}</bdi>
      </strong>
      <span class="dim wide">{version}</span>
      <span class={`live ${isLive.value ? "on" : ""}`} role="status">
        {isLive.value ? t("live") : t("notLive")}
      </span>
      {hub !== undefined && seesAll && <HubChoice />}
      <button class="search" onClick={onPalette}>
        {t("palette")} <kbd>Ctrl K</kbd>
      </button>
      <label class="pick">
        <span class="hidden">{t("theme")}</span>
        <select value={theme.value} onChange={(event) => applyTheme(event.currentTarget.value as Theme)}>
          {THEMES.map((one) => (
            <option key={one} value={one}>
              {t(one === "auto" ? "themeAuto" : one === "light" ? "themeLight" : "themeDark")}
            </option>
          ))}
        </select>
      </label>
      <LanguageChoice />
      {by === "session" && (
        <button onClick={() => void signOut()}>
          {t("signOut")} <bdi class="wide">{caller?.name ?? caller?.id}</bdi>
        </button>
      )}
    </header>
  );
}

function LanguageChoice() {
  return (
    <label class="pick">
      <span class="hidden">{t("language")}</span>
      <select value={language.value} onChange={(event) => chooseLanguage(event.currentTarget.value as Language)}>
        {LANGUAGES.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}
