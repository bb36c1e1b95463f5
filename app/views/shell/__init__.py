"""The main window: side bar, header, composer, menus, picker."""
