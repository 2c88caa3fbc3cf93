! SPDX-License-Identifier: Apache-2.0
! Texts: padded with blanks when they come, without them when they go.
program texts
  use mpi_f08
  use checks
  implicit none
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_OBJECT_NAME) :: label
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=6) :: short
  character(len=:), allocatable :: own_label
  type(MPI_Info) :: info, other
  type(MPI_Win) :: window
  integer :: rank, ierror, length, number, code, class, memory(1)
  logical :: flag
  double precision :: before

  call MPI_Initialized(flag)
  call check(.not. flag, 'not yet')
  call MPI_Init_thread(required=MPI_THREAD_FUNNELED, provided=number)
  call check(number >= MPI_THREAD_FUNNELED, 'threads')
  call MPI_Initialized(flag)
  call check(flag, 'initialized')
  call MPI_Is_thread_main(flag)
  call check(flag, 'main thread')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  before = MPI_Wtime()
  call check(MPI_Wtick() > 0 .and. MPI_Wtime() >= before .and. PMPI_Wtime() >= before, 'time')
  call MPI_Get_version(number, length)
  call check(number == MPI_VERSION .and. length == MPI_SUBVERSION, 'version')

  name = repeat('x', len(name))
  call MPI_Get_processor_name(name, length)
  call check(length > 0 .and. len_trim(name) == length .and. index(name, achar(0)) == 0, 'name')
  call MPI_Get_processor_name(short, length)
  call check(length <= 6 .and. short == name(1:6), 'short name')
  call MPI_Get_library_version(version=version, resultlen=length)
  call check(len_trim(version) == length .and. length > 0, 'library')
  call MPI_Error_string(errorcode=MPI_ERR_TRUNCATE, string=text, resultlen=length)
  call check(len_trim(text) == length .and. length > 5, 'error')

  call MPI_Comm_get_name(MPI_COMM_WORLD, label, length)
  call check(label == 'MPI_COMM_WORLD' .and. length == 14, 'world')
  own_label = ' all of us'
  call MPI_Comm_set_name(MPI_COMM_WORLD, own_label//'  ')
  call MPI_Comm_get_name(comm=MPI_COMM_WORLD, comm_name=label, resultlen=length)
  call check(label == own_label .and. length == 10, 'new name')
  own_label = repeat('x', 4)
  call MPI_Comm_get_name(MPI_COMM_WORLD, own_label, length)
  call check(own_label == ' all' .and. length == 4, 'short name of a communicator')
  call MPI_Type_get_name(datatype=MPI_DOUBLE_PRECISION, type_name=label, resultlen=length)
  call check(label(1:length) == 'MPI_DOUBLE_PRECISION', 'type name')
  call MPI_Win_create(memory, 4_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
  call MPI_Win_set_name(window, 'a window')
  label = 'x'
  call MPI_Win_get_name(window, label, length)
  call check(label == 'a window' .and. length == 8, 'name of a window')
  call MPI_Win_free(window)

  call MPI_Info_create(info)
  call MPI_Info_set(info, '  file ', ' a name with blanks  ')
  call MPI_Info_set(info=info, key='second', value='2')
  call MPI_Info_get_nkeys(info, number)
  call check(number == 2, 'keys')
  call MPI_Info_get_nthkey(info, 0, key)
  call check(key == 'file', 'key')
  call MPI_Info_get_valuelen(info, 'file', number, flag)
  call check(flag .and. number == 18, 'length of value')
  text = repeat('x', len(text))
  call MPI_Info_get(info, 'file   ', len(text), text, flag)
  call check(flag .and. text == 'a name with blanks', 'value')
  call MPI_Info_get(info=info, key='none', valuelen=len(text), value=text, flag=flag)
  call check(.not. flag .and. text == 'a name with blanks', 'no value')
  number = 0
  call MPI_Info_get_string(info, 'file', number, text, flag)
  call check(flag .and. number == 18, 'length asked')
  number = 6
  call MPI_Info_get_string(info=info, key='file', buflen=number, value=short, flag=flag)
  call check(flag .and. number == 18 .and. short == 'a name', 'short value')
  call MPI_Info_dup(info, other)
  call MPI_Info_delete(other, 'second')
  call MPI_Info_get_nkeys(other, number)
  call check(number == 1 .and. other /= info, 'copy')
  call MPI_Info_free(other)
  call MPI_Info_free(info)
  call check(info == MPI_INFO_NULL, 'info freed')
  call MPI_Info_create_env(info, ierror)
  call check(ierror == MPI_SUCCESS .and. info /= MPI_INFO_NULL, 'environment')

  call MPI_Add_error_class(class)
  call MPI_Add_error_code(class, code)
  call MPI_Add_error_string(code, 'out of patience ')
  call MPI_Error_string(code, text, length)
  call check(text == 'out of patience' .and. length == 15, 'own error')
  call MPI_Error_class(errorcode=code, errorclass=number)
  call check(number == class, 'class')
  call MPI_Pcontrol(1)
  call MPI_Finalize()
  call MPI_Finalized(flag)
  call check(flag, 'finalized')
  call finish('texts', rank)
end program
