import type { PageTexts } from "./page-texts.ts";

export const DE: PageTexts = {
  language: "de",
  signIn: "Anmelden",
  userName: "Benutzername",
  password: "Passwort",
  wrongPassword: "Der Benutzername oder das Passwort ist falsch.",
  tooManyAttempts: "Es waren zu viele Versuche. Versuchen Sie es in {seconds} Sekunden noch einmal.",
  signInWith: "Anmelden mit {provider}",
  providerFailed:
    "Die Anmeldung mit {provider} ist fehlgeschlagen ({reason}). Versuchen Sie es noch einmal oder auf andere Weise.",
  signInFor: "Sie melden sich an, um diesen Hub mit {client} zu benutzen.",
  consent: "Zugriff erlauben?",
  asks: "{client} bittet um Zugriff auf diesen Hub in Ihrem Namen.",
  signedInAs: "Sie sind angemeldet als {user}.",
  redirect: "Danach werden Sie zu {host} geleitet. Fahren Sie nur fort, wenn Sie diese Adresse kennen.",
  localRedirect:
    "Danach werden Sie zu einem Programm auf diesem Computer geleitet ({host}). Fahren Sie nur fort, wenn Sie es " +
    "selbst gestartet haben.",
  permissions: "Das Programm darf:",
  scopeBase: "die Werkzeuge benutzen, die Sie benutzen dürfen",
  scopeOffline: "angemeldet bleiben, bis Sie es entfernen",
  scopeOpenid: "Ihren Benutzernamen lesen",
  allow: "Erlauben",
  deny: "Ablehnen",
  otherUser: "Als anderer Benutzer anmelden",
  error: "Die Anmeldung kann nicht fortgesetzt werden",
  expired: "Diese Anmeldung ist abgelaufen oder wurde schon benutzt. Beginnen Sie sie in Ihrem Programm neu.",
  cannotContinue: "Das Programm hat eine Anfrage gesendet, die dieser Hub ablehnt ({reason}). Beginnen Sie dort neu.",
  unavailable: "Der Hub kann Anmeldungen gerade nicht speichern. Versuchen Sie es in einigen Sekunden noch einmal.",
  device: "Ein Gerät anmelden",
  enterCode: "Geben Sie den Code ein, den Ihr Gerät oder Programm anzeigt.",
  code: "Code",
  proceed: "Weiter",
  wrongCode: "Dieser Code ist unbekannt, abgelaufen oder wurde schon benutzt.",
  deviceDenied: "Der Zugriff wurde abgelehnt. Sie können diese Seite schließen.",
  compareCode: "{client} zeigt einen Code an. Vergleichen Sie ihn mit diesem:",
  codeWarning:
    "Fahren Sie nur fort, wenn Sie die Anmeldung selbst begonnen haben und die Codes gleich sind. " +
    "Wer Ihnen den Code geschickt hat, könnte diesen Hub in Ihrem Namen benutzen.",
  deviceDone: "Das Gerät ist angemeldet. Sie können diese Seite schließen.",
  deviceRedirect:
    "Danach ist das Gerät oder Programm angemeldet, das den Code anzeigt. " +
    "Fahren Sie nur fort, wenn Sie es selbst gestartet haben.",
};
