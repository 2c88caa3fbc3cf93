// SPDX-License-Identifier: Apache-2.0
// SVG pictures as PNG, by librsvg.
#include <weft/output/report/picture.hpp>

#ifdef WEFT_RSVG
#include <cairo.h>
#include <librsvg/rsvg.h>
#endif

namespace weft::report {

#ifndef WEFT_RSVG

bool has_png() {
  return false;
}
Result<std::string> to_png(const std::string&, double) {
  return Error::run(
      "this weft was built without librsvg and draws SVG only; install librsvg2-dev and build it "
      "again");
}

#else

bool has_png() {
  return true;
}

Result<std::string> to_png(const std::string& svg, double scale) {
  GError* error = nullptr;
  RsvgHandle* const handle =
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error);
  if (handle == nullptr) {
    const std::string text = error == nullptr ? "" : error->message;
    g_clear_error(&error);
    return Error::run("librsvg cannot read the picture: " + text);
  }
  gdouble width = 960, height = 600;
  if (!rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height)) {
    gboolean has_width = 0, has_height = 0, has_box = 0;
    RsvgLength w = {}, h = {};
    RsvgRectangle box = {};
    rsvg_handle_get_intrinsic_dimensions(handle, &has_width, &w, &has_height, &h, &has_box, &box);
    if (has_box != 0) {
      width = box.width;
      height = box.height;
    }
  }
  width *= scale;
  height *= scale;
  cairo_surface_t* const surface = cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, static_cast<int>(width), static_cast<int>(height));
  cairo_t* const pen = cairo_create(surface);
  const RsvgRectangle all = {0, 0, width, height};
  const bool drawn = rsvg_handle_render_document(handle, pen, &all, &error) != 0;
  g_clear_error(&error);
  std::string png;
  const auto take = [](void* to, const unsigned char* data, unsigned size) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
  };
  const bool written =
      drawn && cairo_surface_write_to_png_stream(surface, take, &png) == CAIRO_STATUS_SUCCESS;
  cairo_destroy(pen);
  cairo_surface_destroy(surface);
  g_object_unref(handle);
  if (!written) return Error::run("the picture cannot be drawn; is there enough memory?");
  return png;
}

#endif

}  // namespace weft::report
