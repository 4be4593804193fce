// A camera's picture, renewed as fast as it comes; without one the place stays and says so.
export function watchCameras() {
  for (const image of document.querySelectorAll("img[data-camera]:not([data-watched])")) {
    image.dataset.watched = "";
    const again = (wait) => setTimeout(() => { if (image.isConnected) image.src = `${image.dataset.camera}?${Date.now()}`; }, wait);
    image.addEventListener("load", () => { image.classList.remove("gone"); again(300); });
    image.addEventListener("error", () => { image.classList.add("gone"); again(1500); });
    again(0);
  }
}
