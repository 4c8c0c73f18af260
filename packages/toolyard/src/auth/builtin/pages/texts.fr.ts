import type { PageTexts } from "./page-texts.ts";

export const FR: PageTexts = {
  language: "fr",
  signIn: "Se connecter",
  userName: "Nom d’utilisateur",
  password: "Mot de passe",
  wrongPassword: "Le nom d’utilisateur ou le mot de passe est incorrect.",
  tooManyAttempts: "Il y a eu trop de tentatives. Réessayez dans {seconds} secondes.",
  signInWith: "Se connecter avec {provider}",
  providerFailed: "La connexion avec {provider} a échoué ({reason}). Réessayez, ou choisissez un autre moyen.",
  signInFor: "Vous vous connectez pour utiliser ce hub avec {client}.",
  consent: "Autoriser l’accès ?",
  asks: "{client} demande l’accès à ce hub en votre nom.",
  signedInAs: "Vous êtes connecté en tant que {user}.",
  redirect: "Vous serez ensuite dirigé vers {host}. Ne continuez que si vous connaissez cette adresse.",
  localRedirect:
    "Vous serez ensuite dirigé vers un programme de cet ordinateur ({host}). Ne continuez que si vous l’avez lancé " +
    "vous-même.",
  permissions: "Le client peut :",
  scopeBase: "utiliser les outils que vous pouvez utiliser",
  scopeOffline: "rester connecté jusqu’à ce que vous le retiriez",
  scopeOpenid: "lire votre nom d’utilisateur",
  allow: "Autoriser",
  deny: "Refuser",
  otherUser: "Se connecter avec un autre compte",
  error: "La connexion ne peut pas continuer",
  expired: "Cette connexion a expiré ou a déjà servi. Recommencez dans votre client.",
  cannotContinue: "Le client a envoyé une requête que ce hub refuse ({reason}). Recommencez dans votre client.",
  unavailable: "Le hub ne peut pas enregistrer de connexions pour le moment. Réessayez dans quelques secondes.",
  device: "Connecter un appareil",
  enterCode: "Saisissez le code que votre appareil ou programme affiche.",
  code: "Code",
  proceed: "Continuer",
  wrongCode: "Ce code est inconnu, a expiré ou a déjà servi.",
  deviceDenied: "L’accès a été refusé. Vous pouvez fermer cette page.",
  compareCode: "{client} affiche un code. Comparez-le avec celui-ci :",
  codeWarning:
    "Ne continuez que si vous avez commencé la connexion vous-même et si les codes sont identiques. " +
    "La personne qui vous aurait envoyé ce code pourrait utiliser ce hub en votre nom.",
  deviceDone: "L’appareil est connecté. Vous pouvez fermer cette page.",
  deviceRedirect:
    "Ensuite, l’appareil ou le programme qui affiche le code est connecté. " +
    "Ne continuez que si vous l’avez démarré vous-même.",
};
