import { preferredLanguage } from "../../../core/text/preferred-language.ts";

/** Texts of the sign-in page in one language. */
export interface SignInTexts {
  readonly language: string;
  readonly title: (hub: string) => string;
  readonly signInAt: (server: string) => string;
  readonly token: string;
  readonly signIn: string;
  readonly signInWithToken: string;
  /** Hint which tokens are accepted: its texts before and after the name of the configuration section with tokens. */
  readonly hint: readonly [before: string, after: string];
  readonly refused: string;
}

const EN: SignInTexts = {
  language: "en",
  title: (hub) => `Sign in to ${hub}`,
  signInAt: (server) => `Sign in with ${server}`,
  token: "Token",
  signIn: "Sign in",
  signInWithToken: "Sign in with a token",
  hint: ["A token of ", ", or an access token of this hub’s sign-in."],
  refused: "The sign-in failed.",
};

const DE: SignInTexts = {
  language: "de",
  title: (hub) => `Bei ${hub} anmelden`,
  signInAt: (server) => `Mit ${server} anmelden`,
  token: "Token",
  signIn: "Anmelden",
  signInWithToken: "Mit einem Token anmelden",
  hint: ["Ein Token aus ", " oder ein Zugriffstoken der Anmeldung dieses Hubs."],
  refused: "Die Anmeldung ist fehlgeschlagen.",
};

const FR: SignInTexts = {
  language: "fr",
  title: (hub) => `Se connecter à ${hub}`,
  signInAt: (server) => `Se connecter avec ${server}`,
  token: "Jeton",
  signIn: "Se connecter",
  signInWithToken: "Se connecter avec un jeton",
  hint: ["Un jeton de ", ", ou un jeton d’accès délivré par la connexion de ce hub."],
  refused: "La connexion a échoué.",
};

const TEXTS = { en: EN, de: DE, fr: FR } as const;

/** Returns the texts in the language that a browser prefers, or in English. */
export function signInTexts(acceptLanguage: string | undefined): SignInTexts {
  return TEXTS[preferredLanguage(acceptLanguage, ["en", "de", "fr"]) ?? "en"];
}
