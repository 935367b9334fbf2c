/** A notification when a reply has finished while the tab is hidden: only if it was asked for in the settings, and granted. */

const KEY = "cloister.notifications";

/* eslint-disable no-restricted-globals */
export function wantsNotifications(): boolean {
  return localStorage.getItem(KEY) === "on" && typeof Notification !== "undefined" && Notification.permission === "granted";
}

/** Turn notifications on or off. Asks the browser's permission when it was not asked before; returns whether they are on. */
export async function setNotifications(on: boolean): Promise<boolean> {
  if (!on) {
    localStorage.removeItem(KEY);
    return false;
  }
  if (typeof Notification === "undefined" || (await Notification.requestPermission()) !== "granted") return false;
  localStorage.setItem(KEY, "on");
  return true;
}
/* eslint-enable no-restricted-globals */

/** The words of the reply are not in it: a notification is shown on locked screens too. */
export function notifyOfReply(title: string): void {
  if (!document.hidden || !wantsNotifications()) return;
  const notification = new Notification("Reply finished", { body: title, icon: "/favicon.svg", tag: location.pathname });
  notification.addEventListener("click", () => {
    window.focus();
    notification.close();
  });
}
