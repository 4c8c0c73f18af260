import type { PageTexts } from "./page-texts.ts";

export const EN: PageTexts = {
  language: "en",
  signIn: "Sign in",
  userName: "User name",
  password: "Password",
  wrongPassword: "The user name or the password is wrong.",
  tooManyAttempts: "There were too many attempts. Try again in {seconds} seconds.",
  signInWith: "Sign in with {provider}",
  providerFailed: "The sign-in with {provider} failed ({reason}). Try again, or choose another way.",
  signInFor: "You sign in to use this hub with {client}.",
  consent: "Allow access?",
  asks: "{client} asks for access to this hub in your name.",
  signedInAs: "You are signed in as {user}.",
  redirect: "Afterwards you are sent to {host}. Only continue if you know this address.",
  localRedirect:
    "Afterwards you are sent to a program on this computer ({host}). Only continue if you started it yourself.",
  permissions: "The client may:",
  scopeBase: "use the tools that you may use",
  scopeOffline: "stay signed in until you remove it",
  scopeOpenid: "read your user name",
  allow: "Allow",
  deny: "Deny",
  otherUser: "Sign in as another user",
  error: "The sign-in cannot continue",
  expired: "This sign-in has expired or was already used. Start it again in your client.",
  cannotContinue: "The client sent a request that this hub refuses ({reason}). Start again in your client.",
  unavailable: "The hub cannot store sign-ins at the moment. Try again in a few seconds.",
  device: "Sign in a device",
  enterCode: "Enter the code that your device or program shows.",
  code: "Code",
  proceed: "Continue",
  wrongCode: "This code is not known, has expired or was already used.",
  deviceDenied: "The access was denied. You can close this page.",
  compareCode: "{client} shows a code. Compare it with this one:",
  codeWarning:
    "Only continue if you started the sign-in yourself and the codes are equal. A stranger who sent you the code " +
    "could use this hub in your name.",
  deviceDone: "The device is signed in. You can close this page.",
  deviceRedirect:
    "Afterwards the device or program that shows the code is signed in. Only continue if you started it yourself.",
};
